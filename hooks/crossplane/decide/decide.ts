// Observation -> Step. Pure: no reads, no clock, no log.
import type { Observation } from '../observe/observation.ts';
import { acquire, refuse, wait } from './acquiring.ts';
import { deletePackage } from './deleting.ts';
import { cleanUp, handOverLate, release } from './ending.ts';
import { install } from './installing.ts';
import { prepare } from './preparing.ts';
import { rollBack } from './rolling-back.ts';
import { type Step, setStatus } from './step.ts';
import { validate } from './validating.ts';
import { verify } from './verifying.ts';

export function decide(observation: Observation): Step {
  switch (observation.due) {
    case 'rest':
      return setStatus(observation.ptx.status, 'nothing is left to do', 0);
    case 'refuse':
      return refuse(observation);
    case 'wait':
      return wait(observation);
    case 'acquire':
      return acquire(observation);
    case 'validate':
      return validate(observation);
    case 'prepare':
      return prepare(observation);
    case 'install':
      return install(observation);
    case 'verify':
      return verify(observation);
    case 'delete':
      return deletePackage(observation);
    case 'rollBack':
      return rollBack(observation);
    case 'release':
      return release(observation);
    case 'cleanUp':
      return cleanUp(observation);
    case 'handOver':
      return handOverLate(observation);
  }
}
