// A fault as the command line shows it.
import type { Fault } from '../checks/fault.ts';
import type { Finding } from '../inspection.ts';

export const finding = ({ reason, message, item }: Fault): Finding =>
  item === undefined ? { reason, message } : { index: item, reason, message };
