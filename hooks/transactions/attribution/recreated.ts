// How an object that somebody recreated differs from the one that our change deleted.
import { asNew, withoutKeys } from '../../objects/content/content.ts';
import { isToken, tokenAccount, withoutGenerated, withoutToken } from '../../objects/content/generated.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { at, type JsonObject, withKey } from '../../objects/json.ts';
import { type Evidence, type ForeignPath, foreignPath } from './attribute.ts';
import { countedOf, isNobodys } from './nobodys.ts';

export function recreatedContent(evidence: Evidence, live: JsonObject): readonly ForeignPath[] {
  const { prior } = evidence.entry;
  if (prior === undefined) return [];
  const kinds = listKindsOf(prior, live);
  // A token for another ServiceAccount of the same name is a different token, whoever made it.
  const isOther = isToken(prior) && isToken(live) && tokenAccount(prior).uid !== tokenAccount(live).uid;
  const known = (object: JsonObject): JsonObject => comparable(isOther ? withoutToken(object) : object, evidence);
  const paths = differences(known(prior), known(live), kinds);
  return paths.filter((path) => !isNobodys(live, path, kinds)).map((path) => foreignPath(live, path));
}

function comparable(object: JsonObject, { entry }: Evidence): JsonObject {
  const fresh = withoutGenerated(asNew(countedOf(object, entry)));
  return withKey(fresh, 'metadata', withoutKeys(at(fresh, 'metadata'), ['annotations', 'ownerReferences']));
}
