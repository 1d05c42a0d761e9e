// What others would lose with an object.
import type { Sabotage } from '../sabotage.ts';

const company = 'hooks/checks/company.ts';
const contents = 'hooks/observe/contents.ts';
const deleted = 'test/scenarios/changes/deletes-with-dependents.test.ts';
const created = 'test/scenarios/undo/creates-with-dependents.test.ts';
const unseen = 'hooks/decide/unseen.ts';
const volumes = 'test/scenarios/undo/volumes-of-others.test.ts';
const manyDependents = ['test/threats/many-dependents.test.ts'];
const kept = 'hooks/attribution/kept.ts';
const pruned = ['test/scenarios/undo/pruned-values.test.ts'];
const consequences = ['test/scenarios/undo/consequences.test.ts'];
const orphans = ['test/scenarios/changes/orphans.test.ts'];
const unlisted = ['test/scenarios/undo/unlistable-kinds.test.ts'];

export const others: readonly Sabotage[] = [
  {
    name: 'changes-without-consequence',
    fault: 'the engine makes changes in answer to which controllers destroy what no undo brings back',
    edits: [{ file: 'hooks/checks/one-way.ts', find: 'lossBy(prior, expected) ??', replace: '' }],
    caughtBy: consequences,
  },
  {
    name: 'undo-without-consequence',
    fault: 'an undo sets fields back in answer to which controllers destroy what others have stored or written since',
    edits: [{ file: kept, find: 'loss === undefined ? undefined : keptFrom', replace: 'loss !== null ? undefined : keptFrom' }],
    caughtBy: consequences,
  },
  {
    name: 'finished-jobs-go',
    fault: 'a Job that has finished gets a time to live, and is deleted',
    edits: [{ file: 'hooks/checks/consequences.ts', find: "  ['batch/Job', finishedJob],\n", replace: '' }],
    caughtBy: consequences,
  },
  {
    name: 'rules-are-aggregated',
    fault: 'an aggregationRule overwrites the rules that somebody wrote',
    edits: [
      {
        file: 'hooks/checks/consequences.ts',
        find: "  ['rbac.authorization.k8s.io/ClusterRole', aggregatedRules],\n",
        replace: '',
      },
    ],
    caughtBy: consequences,
  },
  {
    name: 'released-volumes-go',
    fault: 'a volume without a claim gets the policy by which Kubernetes deletes it',
    edits: [{ file: 'hooks/checks/consequences.ts', find: "  ['/PersistentVolume', reclaimedVolume],\n", replace: '' }],
    caughtBy: consequences,
  },
  {
    name: 'marks-take-away',
    fault: 'an object gets a mark by which Kubernetes deletes it',
    edits: [
      {
        file: 'hooks/checks/consequences.ts',
        find: 'once === undefined && !has(before) && has(after)',
        replace: 'has(before) && !has(after)',
      },
    ],
    caughtBy: consequences,
  },
  {
    name: 'claims-change',
    fault: 'a volume gets the claim of nobody, and is deleted',
    edits: [
      {
        file: 'hooks/checks/consequences.ts',
        find: "if (textAt(other, 'uid') !== undefined && !equalJson(claim, other))",
        replace: 'if (equalJson(claim, null))',
      },
    ],
    caughtBy: consequences,
  },
  {
    name: 'owners-that-leave',
    fault: 'an object gets an owner that is being deleted, and goes with it',
    edits: [
      { file: 'hooks/observe/new-owners.ts', find: '[...gone, ...leaving, ...unserved]', replace: '[...gone, ...unserved]' },
    ],
    caughtBy: ['test/scenarios/undo/owners-and-tokens.test.ts'],
  },
  {
    name: 'lists-for-a-whole-call',
    fault: 'what comes into a Namespace while a call lasts is not seen',
    edits: [
      {
        file: 'hooks/observe/inside.ts',
        find: 'return looker.looks.once(key, () => listEach(looker, key, resources, namespace));',
        replace: 'return listEach(looker, key, resources, namespace);',
      },
    ],
    caughtBy: ['test/hooks/observe/looks-in-call.test.ts'],
  },
  {
    name: 'orphans-of-another',
    fault: 'what a controller would delete is looked up in a list made for another one',
    edits: [
      {
        file: 'hooks/observe/orphans.ts',
        find: 'return looker.looks.once(key, () => listThem(looker, loss, key));',
        replace: "return listThem(looker, loss, 'orphans');",
      },
    ],
    caughtBy: ['test/hooks/observe/looks-in-call.test.ts'],
  },
  {
    name: 'tokens-go',
    fault: 'a token Secret is given to another ServiceAccount, and deleted',
    edits: [{ file: 'hooks/checks/consequences.ts', find: "  ['/Secret', strayToken],\n", replace: '' }],
    caughtBy: consequences,
  },
  {
    name: 'schemas-drop-values',
    fault: 'a change of a CRD drops values of its objects',
    edits: [{ file: 'hooks/checks/one-way.ts', find: 'if (pruned.length === 0)', replace: 'if (pruned.length >= 0)' }],
    caughtBy: pruned,
  },
  {
    name: 'undo-drops-values',
    fault: 'the undo of a change of a CRD drops values that others wrote into fields that came with it',
    edits: [{ file: kept, find: ' ?? dropping(evidence, restored)', replace: '' }],
    caughtBy: pruned,
  },
  {
    name: 'fields-of-others-count',
    fault: 'an undo leaves a CRD for values in fields that it does not take away',
    edits: [{ file: kept, find: ' || pruningVersions(live, restored).length === 0', replace: '' }],
    caughtBy: pruned,
  },
  {
    name: 'late-trials-lose',
    fault: 'what others lose does not count where a dry run waits for its turn',
    edits: [{ file: 'hooks/decide/committing.ts', find: '(tried.othersLose ?? whyIrreversible(', replace: '(whyIrreversible(' }],
    caughtBy: ['test/scenarios/changes/endpoints-by-hand.test.ts'],
  },
  {
    name: 'recreations-lose',
    fault: 'what others lose does not count where an object is recreated',
    edits: [{ file: 'hooks/observe/irreversible.ts', find: ' ?? target.othersLose)', replace: ')' }],
    caughtBy: orphans,
  },
  {
    name: 'labels-are-adopted',
    fault: 'a Pod gets the labels that a controller selects, which deletes it',
    edits: [{ file: 'hooks/checks/orphans.ts', find: ' ?? adoptionOf(kind, before, after)', replace: '' }],
    caughtBy: orphans,
  },
  {
    name: 'orphans-are-deleted',
    fault: 'a change is made in answer to which a controller deletes Pods that nobody recreates',
    edits: [{ file: 'hooks/observe/losses.ts', find: '?? (orphans && orphansLost(orphans))', replace: '' }],
    caughtBy: orphans,
  },
  {
    name: 'undo-deletes-orphans',
    fault: 'an undo is made in answer to which a controller deletes Pods that nobody recreates',
    edits: [{ file: kept, find: ' ?? deletingOrphans(evidence, restored)', replace: '' }],
    caughtBy: orphans,
  },
  {
    name: 'tolerations-that-end',
    fault: 'a Pod counts as safe on a tainted Node that tolerates the taint for a while',
    edits: [
      {
        file: 'hooks/checks/taints.ts',
        find: "matching !== undefined && at(matching, 'tolerationSeconds') === undefined",
        replace: 'matching !== undefined',
      },
    ],
    caughtBy: orphans,
  },
  {
    name: 'maps-are-closed',
    fault: 'the undo of a change of a CRD drops values of a map that others filled',
    edits: [{ file: 'hooks/checks/pruning.ts', find: ' || losesRest(before, after)', replace: '' }],
    caughtBy: ['test/hooks/checks/pruning.test.ts', ...pruned],
  },
  {
    name: 'stored-versions-drop',
    fault: 'a field goes from a version in which objects are stored, since it is not served',
    edits: [
      {
        file: 'hooks/checks/pruning.ts',
        find: " || isAmong(stored, textAt(one, 'name'))",
        replace: '',
      },
    ],
    caughtBy: ['test/hooks/checks/pruning.test.ts'],
  },
  {
    name: 'defaults-are-values',
    fault: 'a CRD with a default cannot be undone while it has objects, since the API server adds the default to each',
    edits: [{ file: 'hooks/checks/pruning.ts', find: ' || isDefault(member, former)', replace: '' }],
    caughtBy: pruned,
  },
  {
    name: 'claims-of-any-age',
    fault: 'the rollback of what never was Committed lets claims go that are older than the Transaction',
    edits: [
      {
        file: kept,
        find: 'wasCommitted ? [...claims, ...unknown] : volumes',
        replace: 'wasCommitted ? [...claims, ...unknown] : []',
      },
    ],
    caughtBy: consequences,
  },
  {
    name: 'children-of-leaves',
    fault: 'the engine does not look for dependents of a ConfigMap',
    edits: [
      {
        file: company,
        find: 'take([...ownedBy(maker.uid), ...bySigns(doomed, around)], maker)',
        replace:
          "take([...(kindOf(doomed.resource) === '/ConfigMap' ? [] : ownedBy(maker.uid)), ...bySigns(doomed, around)], maker)",
      },
    ],
    caughtBy: ['test/hooks/checks/company.test.ts', deleted],
  },
  {
    name: 'each-chain-anew',
    fault: 'what was found of the controllers above an object is found again for each object below it',
    edits: [
      {
        file: 'hooks/checks/subordinates.ts',
        find: 'for (const uid of passed) known.set(uid, ends);',
        replace: 'known.clear();',
      },
    ],
    caughtBy: manyDependents,
  },
  {
    name: 'owners-all-at-once',
    fault: 'all owners that an object names are read at once',
    edits: [
      {
        file: 'hooks/observe/owners.ts',
        find: 'await inTurn(owners, look);',
        replace: 'await Promise.all(owners.map(look));',
      },
    ],
    caughtBy: manyDependents,
  },
  {
    name: 'owners-twice',
    fault: 'an object that names one owner often counts as often',
    edits: [
      {
        file: company,
        find: 'new Set(neighbour.owners.map((owner) => owner.uid))',
        replace: 'neighbour.owners.map((owner) => owner.uid)',
      },
    ],
    caughtBy: manyDependents,
  },
  {
    name: 'tokens-forgotten',
    fault: 'a ServiceAccount is deleted without regard to its token Secrets',
    edits: [{ file: company, find: 'return tokens.filter((token) => isTokenOf(token, doomed));', replace: 'return [];' }],
    caughtBy: [deleted],
  },
  {
    name: 'label-believed',
    fault: 'an EndpointSlice whose label names the controller of Kubernetes counts as made by it',
    edits: [
      {
        file: company,
        find: "  return feeder !== 'endpointslice-controller.k8s.io' || isFedByKubernetes(doomed);",
        replace: '  return doomed !== undefined;',
      },
    ],
    caughtBy: [deleted],
  },
  {
    name: 'late-children',
    fault: 'a Delete takes an object with it that appeared after the checks',
    edits: [
      {
        file: 'hooks/decide/committing.ts',
        find: 'const why = takesAlong(view.contents);',
        replace: 'const why = takesAlong([]);',
      },
    ],
    caughtBy: [deleted],
  },
  {
    name: 'first-page-only',
    fault: 'the first page of a list counts as the whole list',
    edits: [
      {
        file: 'hooks/observe/listing.ts',
        find: 'next: complete ? undefined : { from: next, limit: following }',
        replace: 'next: complete || following > 0 ? undefined : { from: next, limit: following }',
      },
    ],
    caughtBy: [deleted],
  },
  {
    name: 'looks-from-the-start',
    fault: 'a look that takes longer than a call starts again in each call',
    edits: [{ file: 'hooks/sync.ts', find: 'lists: memory.unfinished.of(call.uid)', replace: 'lists: new Map()' }],
    caughtBy: ['test/scenarios/calls/long-looks.test.ts'],
  },
  {
    name: 'pages-without-bound',
    fault: 'a page of a list is as large as others make its objects',
    edits: [
      {
        file: 'hooks/observe/listing.ts',
        find: '...(place.limit > 1 ? { mostBytes } : {})',
        replace: '...(place.limit > 1 ? {} : {})',
      },
    ],
    caughtBy: ['test/threats/large-metadata.test.ts'],
  },
  {
    name: 'owners-waited-for',
    fault: 'an undo that needs an unreadable owner waits until its timeout',
    edits: [
      {
        file: unseen,
        find: 'if (!isLasting(observation, undoBegan(status, now)))\n    return setAside(status, index, `reading',
        replace: 'if (status !== undefined)\n    return setAside(status, index, `reading',
      },
    ],
    caughtBy: ['test/scenarios/undo/broken-owners.test.ts'],
  },
  {
    name: 'claims-of-controllers',
    fault: 'an undo deletes claims that a controller made, whatever their volumes store',
    edits: [
      {
        file: 'hooks/attribution/kept.ts',
        find: 'if (!wasCommitted || claims.length === 0)',
        replace: 'if (!wasCommitted || claims.length >= 0)',
      },
    ],
    caughtBy: ['test/scenarios/undo/stateful-claims.test.ts'],
  },
  {
    name: 'denied-unsaid',
    fault: 'messages do not name kinds that the ServiceAccount may not list',
    edits: [
      {
        file: 'hooks/decide/committing.ts',
        find: 'const note = unlistedNote(view.unlisted, [], view.away);',
        replace: 'const note = unlistedNote([]);',
      },
      {
        file: 'hooks/observe/irreversible.ts',
        find: 'unlistedNote(around?.unlisted ?? [], [], around?.away)',
        replace: 'unlistedNote(around === undefined ? [] : [])',
      },
    ],
    caughtBy: [deleted],
  },
  {
    name: 'undo-takes-along',
    fault: 'the undo of a Create deletes dependents of others',
    edits: [
      {
        file: contents,
        find: '[...within, ...company]',
        replace: '[...within, ...company.slice(company.length)]',
      },
    ],
    caughtBy: [created],
  },
  {
    name: 'adopted-is-made',
    fault: 'the undo of a Create deletes what its controller has adopted, as if it had made it',
    edits: [{ file: company, find: 'return !isAdopted && owners', replace: 'return (!isAdopted || isAdopted) && owners' }],
    caughtBy: ['test/hooks/checks/company.test.ts', 'test/scenarios/undo/adopted.test.ts'],
  },
  {
    name: 'volumes-not-its-own',
    fault: 'a rollback deletes a claim, and with it a volume that was there before',
    edits: [
      {
        file: 'hooks/attribution/kept.ts',
        find: 'if (volumes.length === 0) return undefined;',
        replace: 'if (volumes.length >= 0) return undefined;',
      },
    ],
    caughtBy: [volumes],
  },
  {
    name: 'endpoints-overwritten',
    fault: 'a Service gets a selector although somebody has made its Endpoints by hand',
    edits: [
      {
        file: 'hooks/checks/one-way.ts',
        find: 'return takesEndpoints\n',
        replace: 'return takesEndpoints === undefined\n',
      },
    ],
    caughtBy: ['test/scenarios/changes/endpoints-by-hand.test.ts'],
  },
  {
    name: 'undo-overwrites-endpoints',
    fault: 'an undo gives a Service its selector back although somebody has written its Endpoints since',
    edits: [
      {
        file: 'hooks/attribution/kept.ts',
        find: 'if (contents.length === 0 || kindOf',
        replace: 'if (contents.length >= 0 || kindOf',
      },
    ],
    caughtBy: ['test/scenarios/changes/endpoints-by-hand.test.ts'],
  },
  {
    name: 'owned-is-derived',
    fault: "in a created Namespace every object with an owner counts as nobody's",
    edits: [
      {
        file: 'hooks/checks/subordinates.ts',
        find: 'return above(one) !== undefined && ending(one);',
        replace: 'return one.owners.length > 0;',
      },
    ],
    caughtBy: [created],
  },
  {
    name: 'bound-claim-deleted',
    fault: 'the undo of a Committed Transaction deletes a claim with the data of its volume',
    edits: [
      {
        file: 'hooks/attribution/kept.ts',
        find: 'const volume = wasCommitted ? boundVolume(evidence, live) : undefined;',
        replace: 'const volume = wasCommitted && boundVolume(evidence, live) === live ? live : undefined;',
      },
    ],
    caughtBy: [created],
  },
  {
    name: 'unlisted-waited-for',
    fault: 'the engine waits for ever for a kind that cannot be listed',
    edits: [
      {
        file: unseen,
        find: 'return now > Math.min(since + listPatience, half) && waits',
        replace: 'return now > half + listPatience + transaction.timeout && waits',
      },
    ],
    caughtBy: unlisted,
  },
  {
    name: 'unlisted-taken-along',
    fault: 'the undo of a Committed Transaction ignores a kind that cannot be listed',
    edits: [
      {
        file: unseen,
        find: 'if (view.unseenInside === undefined && !wasCommitted) return undefined;',
        replace: 'if (view.unseenInside === undefined || !wasCommitted) return undefined;',
      },
    ],
    caughtBy: unlisted,
  },
  {
    name: 'unlisted-ignored',
    fault: 'a Delete is sent although not every kind around it can be listed',
    edits: [
      {
        file: 'hooks/decide/committing.ts',
        find: 'const unseen = unseenAtDelete(observation, view, entry);',
        replace: 'const unseen = unseenAtDelete(observation, { ...view, failing: [] }, entry);',
      },
    ],
    caughtBy: unlisted,
  },
];
