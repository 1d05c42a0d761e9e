// The conditions of a package transaction, from its status: Validated, Installed, Ready, Synced, Finished.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import type { Note } from '../decide/move.ts';
import type { Outcome, Status } from '../model/status.ts';

interface Said {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const said = (status: Said['status'], reason: string, message: string): Said => ({ status, reason, message });

const valid = said('True', 'AllValidationsPassed', 'Pre-flight validation completed successfully');
const pending = said('Unknown', 'InstallationPending', 'Installation pending validation completion');
const installing = said('Unknown', 'InstallationInProgress', 'Package installation in progress');
const complete = said('True', 'InstallationComplete', 'Package installation completed successfully');
const executing = said('Unknown', 'TransactionInProgress', 'Transaction is currently executing');
const ready = said('True', 'TransactionComplete', 'Transaction completed successfully');
const unvalidated = said('False', 'ValidationFailed', 'Transaction validation failed');
const uninstalled = said('False', 'InstallationFailed', 'Transaction installation failed');

interface Story {
  readonly Validated: Said;
  readonly Installed: Said;
  readonly Ready: Said;
}

/** The trouble of a registry, which is no verdict on the packages. */
const noVerdict = ['Unavailable'];

function storyOf(status: Status, note: Note | undefined): Story {
  const { phase, outcome } = status;
  if (phase === 'RollingBack') {
    const why = cut(`Rolling back: ${outcome?.message ?? ''}`, longest);
    return { Validated: valid, Installed: said('Unknown', 'RollingBack', why), Ready: executing };
  }
  // Before its next try, what it waits for: the end of the last one does not say what somebody may have to mend.
  const waits = phase === 'Waiting' && note?.reason === 'WaitingForLock';
  if (outcome !== undefined && !waits) return endOf(status, outcome);
  if (phase === 'Waiting' || phase === 'Validating')
    return { Validated: openingOf(phase, note), Installed: pending, Ready: executing };
  return { Validated: valid, Installed: installing, Ready: executing };
}

function openingOf(phase: Status['phase'], note: Note | undefined): Said {
  if (note !== undefined && note.reason !== 'ReconcileError') return said('Unknown', note.reason, note.message);
  if (phase === 'Waiting') return said('Unknown', 'WaitingForLock', 'Waiting for the Lock');
  return said('Unknown', 'Resolving', 'Resolving the packages');
}

function endOf({ phase, lockDigest }: Status, outcome: Outcome): Story {
  const { kind, step, reason = 'InstallationFailed', message = '' } = outcome;
  if (kind === 'Succeeded') return succeeded(phase, message);
  if (kind === 'Abandoned') {
    // With the digest of the Lock it was resolved, and found valid.
    const verdict = lockDigest === undefined ? said('Unknown', 'Resolving', `Not resolved: ${message}`) : valid;
    return {
      Validated: verdict,
      Installed: said('False', 'InstallationFailed', `Not installed: ${message}`),
      Ready: uninstalled,
    };
  }
  if (step !== 'Validation') return { Validated: valid, Installed: said('False', reason, message), Ready: uninstalled };
  const verdict = noVerdict.includes(reason) ? said('Unknown', 'Resolving', message) : said('False', reason, message);
  return { Validated: verdict, Installed: pending, Ready: unvalidated };
}

function succeeded(phase: Status['phase'], message: string): Story {
  const Installed = message === '' ? complete : { ...complete, message: `${complete.message}; ${message}` };
  return { Validated: valid, Installed, Ready: phase === 'Succeeded' ? ready : executing };
}

const longest = 8_000;

/** Of a registry. */
const troubles = ['Unavailable', 'FetchDenied'];

function synced({ outcome }: Status, note: Note | undefined): Said {
  if (note?.reason === 'ReconcileError') return said('False', 'ReconcileError', note.message);
  const isTrouble = troubles.includes(outcome?.reason ?? '') && note?.reason !== 'WaitingForLock';
  return isTrouble
    ? said('False', 'ReconcileError', outcome?.message ?? '')
    : said('True', 'ReconcileSuccess', 'The last call succeeded');
}

function finished({ phase }: Status): Said {
  if (phase === 'Succeeded') return said('True', 'TransactionComplete', 'It succeeded');
  if (phase === 'Failed') return said('True', 'TransactionFailed', 'It failed and is not tried again');
  return said('False', 'TransactionInProgress', 'It is under way, or will be tried again');
}

/** All conditions; one whose status stays keeps its time. */
export function conditionsOf(status: Status, note: Note | undefined, generation: number, now: string): readonly JsonObject[] {
  const all = { ...storyOf(status, note), Synced: synced(status, note), Finished: finished(status) };
  return Object.entries(all).map(([type, one]) => {
    const before = status.conditions.find((condition) => textAt(condition, 'type') === type);
    const since = textAt(before, 'status') === one.status ? textAt(before, 'lastTransitionTime') : undefined;
    return { type, ...one, message: cut(one.message, longest), lastTransitionTime: since ?? now, observedGeneration: generation };
  });
}
