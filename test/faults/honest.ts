// If a Transaction may end differently from its story, its status must be true.
import { textAt } from '../../hooks/objects/json.ts';
import { type Evidence, itemsOf } from './evidence.ts';
import { violations } from './invariants.ts';
import { commit4 } from './stories.ts';
import type { EndPhase, Story } from './story.ts';

const aboutTheEnd = /^I1 |^I14 /;

/** Committed: all is applied. RolledBack: all is as before. Failed: all is as before except the items that are reported as left. */
export function honestEnd(evidence: Evidence): readonly string[] {
  const [[transaction = '', status] = []] = evidence.ends;
  const phase = textAt(status, 'phase') ?? 'gone';
  if (phase === evidence.story.end) return violations(evidence);
  const others = violations(evidence).filter((text) => !aboutTheEnd.test(text));
  const changes = evidence.story.transactions(evidence.names)[transaction] ?? [];
  const counted = changes.filter((_, index) => itemsOf(status)[index]?.left !== true);
  const expected = { ...storyEnding(evidence.story, phase), transactions: () => ({ [transaction]: counted }) };
  const items = itemsOf(status).filter(({ left }) => left !== true);
  const ends = new Map([[transaction, { ...status, items }]]);
  return [...others, ...violations({ ...evidence, story: expected, ends }).filter((text) => aboutTheEnd.test(text))];
}

function storyEnding(story: Story, phase: string): Story {
  const { content: _other, ...without } = story;
  const content = phase === 'Committed' ? (story.content ?? commit4.content) : undefined;
  return { ...without, end: phase as EndPhase, ...(content && { content }) };
}
