// If no policy judged spec at its creation, the hook does: whatever a creation rule refuses ends as Failed, and nothing is
// written, no lock and no snapshot.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { gateRules, targetRules, transactionRules } from '../../schemas/creation-rules.ts';
import { startStage } from '../support/stage.ts';
import { changeWith, goodTarget, specWith } from './bad/specs.ts';
import { openGhosts } from './ghosts.ts';

const ofTarget = (parts: JsonObject): JsonObject => specWith([changeWith({ target: { ...goodTarget, ...parts } })]);
const ofSpec = (parts: JsonObject): JsonObject => specWith([changeWith({})], parts);
const ofGate = (gate: JsonObject): JsonObject => specWith([changeWith({ gate })]);

const long = 'n'.repeat(231);

/** By the name of the rule, or the path of its value. */
const broken: Readonly<Record<string, readonly [JsonObject, RegExp, name?: string]>> = {
  'metadata.name': [ofSpec({}), /metadata\.name has 231 characters/, long],
  'spec.serviceAccountName': [ofSpec({ serviceAccountName: 'a:b' }), /spec\.serviceAccountName "a:b"/],
  'spec.fieldManager': [ofSpec({ fieldManager: 'janus-shop' }), /spec\.fieldManager/],
  'spec.changes': [specWith([changeWith({ wave: 1 }), changeWith({})]), /spec\.changes\[1\]\.wave is missing/],
  'spec.lockTimeout': [ofSpec({ lockTimeout: '1s' }), /spec\.lockTimeout must be a duration from 30s to 1h/],
  'spec.lockWait': [ofSpec({ lockWait: 'soon' }), /spec\.lockWait must be a duration from 0s to 1h/],
  'spec.timeout': [ofSpec({ timeout: '25h' }), /spec\.timeout must be a duration from 1s to 24h/],
  'spec.gate.timeout': [ofSpec({ gate: { timeout: '2d' } }), /spec\.gate\.timeout: .*1s to 24h/],
  'spec.gate.stableFor': [ofSpec({ gate: { stableFor: 'long' } }), /spec\.gate\.stableFor/],
  'spec.gate.failFast.imageAfter': [ofSpec({ gate: { failFast: { imageAfter: 'soon' } } }), /spec\.gate\.failFast\.imageAfter/],
  'spec.gate.failFast.containerAfter': [ofSpec({ gate: { failFast: { containerAfter: '0s' } } }), /failFast\.containerAfter/],
  apiVersion: [ofTarget({ apiVersion: 'v1/../..' }), /target\.apiVersion "v1\/\.\.\/\.\."/],
  kind: [ofTarget({ kind: 'pods/exec' }), /target\.kind "pods\/exec"/],
  name: [ofTarget({ name: '..' }), /target\.name "\.\."/],
  namespace: [ofTarget({ namespace: 'A' }), /target\.namespace "A"/],
  own: [ofTarget({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' }), /cannot be targets/],
  metacontroller: [ofTarget({ apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'CompositeController' }), /cannot be targets/],
  timeout: [ofGate({ timeout: '0s' }), /changes\[0\]\.gate\.timeout/],
  stableFor: [ofGate({ stableFor: '25h' }), /changes\[0\]\.gate\.stableFor/],
  imageAfter: [ofGate({ failFast: { imageAfter: '25h' } }), /changes\[0\]\.gate\.failFast\.imageAfter/],
  containerAfter: [ofGate({ failFast: { containerAfter: '' } }), /changes\[0\]\.gate\.failFast\.containerAfter/],
};

t.test('a Transaction that a creation rule refuses ends as Failed without a write', async (t) => {
  const run = openGhosts(t, await startStage(t, { withoutLoop: true }));
  const rules = [...transactionRules.map(({ path }) => path), ...[...targetRules, ...gateRules].map(({ name }) => name)];
  t.same(Object.keys(broken), rules, 'each rule is tried');
  for (const [rule, [spec, message, name = 'ghost']] of Object.entries(broken)) {
    const { status, writes } = await run(name, spec, {});
    t.match(status, { phase: 'Failed', message }, rule);
    t.same(writes, [], rule);
  }
});
