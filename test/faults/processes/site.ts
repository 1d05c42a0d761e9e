// Hooks in separate processes, and Metacontroller's loops that call them, for the Transactions of one label.
import { createUndo, type Undo } from '../../../scripts/demo/undo.ts';
import { freePort } from '../../controlplane/start.ts';
import { hookToken } from '../../support/hook-token.ts';
import { startInTurn } from '../../support/in-turn.ts';
import { type Metacontroller, startMetacontroller } from '../../support/metacontroller/double.ts';
import { type FetchHook, httpTransport } from '../../support/metacontroller/hook-call.ts';
import type { World } from '../world.ts';
import { type HookProcess, type HookSettings, startHookProcess } from './hook.ts';
import { refuseWhenSent } from './refused.ts';

interface Seat {
  /** The process that serves, once it is ready: a new one after each death. */
  serving: Promise<HookProcess>;
  deaths: number;
  readonly loop: Metacontroller;
}

export interface Site {
  readonly world: World;
  readonly label: Readonly<Record<string, string>>;
  readonly seats: Seat[];
  readonly undo: Undo;
  /** Awaited by each loop before it calls its hook. */
  beforeCalls: () => Promise<void>;
  isClosing: boolean;
}

let count = 0;

/** Starts that many hooks, each with its own loop. `kubeconfig`: for the hooks, if not their usual one. */
export async function openSite(world: World, seats: number, kubeconfig?: string): Promise<Site> {
  count += 1;
  const label = { 'faults.janus.io/site': `site-${count}` };
  const site: Site = { world, label, seats: [], undo: createUndo(), beforeCalls: async () => undefined, isClosing: false };
  await refuseWhenSent(world);
  for (let seat = 0; seat < seats; seat += 1) await addSeat(site, kubeconfig);
  return site;
}

interface Turning {
  readonly hooks: number;
  /** JANUS_CALL_BUDGET; the default without it. */
  readonly callBudget?: string | undefined;
  /** Selects which of `count` hooks gets call `number`; in turn by default. */
  readonly pick?: ((count: number, number: number) => number) | undefined;
}

/** Starts that many hooks behind one address, and one loop that calls it. */
export async function openTurns(world: World, { hooks, callBudget, pick }: Turning): Promise<Site> {
  const site = await openSite(world, 0);
  const addresses: string[] = [];
  const turns = await startInTurn(() => addresses, pick);
  site.undo.add(() => turns.close());
  const loop = await startLoopOf(site, turns.address);
  for (let number = 0; number < hooks; number += 1) {
    const settings = { ...(await settingsOf(world, number)), ...(callBudget === undefined ? {} : { callBudget }) };
    const hook = await startHookProcess(world, site.undo, settings);
    addresses.push(hook.address);
    seatHook(site, hook, { settings, loop });
  }
  return site;
}

export async function addSeat(site: Site, kubeconfig?: string): Promise<Seat> {
  const settings = { ...(await settingsOf(site.world, site.seats.length)), ...(kubeconfig === undefined ? {} : { kubeconfig }) };
  const hook = await startHookProcess(site.world, site.undo, settings);
  return seatHook(site, hook, { settings, loop: await startLoopOf(site, hook.address) });
}

/** Every second process runs the other checkout, where the world has one. */
async function settingsOf({ against }: World, number: number): Promise<HookSettings> {
  return { port: await freePort(), ...(against === undefined || number % 2 === 0 ? {} : { program: against }) };
}

interface Seating {
  readonly settings: HookSettings;
  readonly loop: Metacontroller;
}

function seatHook(site: Site, hook: HookProcess, { settings, loop }: Seating): Seat {
  const seat: Seat = { serving: Promise.resolve(hook), deaths: 0, loop };
  site.seats.push(seat);
  keepServing(site, seat, settings);
  return seat;
}

// A process that dies is replaced, at the same address.
function keepServing(site: Site, seat: Seat, settings: HookSettings): void {
  void seat.serving
    .then((hook) => hook.gone)
    .then(() => {
      if (site.isClosing) return;
      seat.deaths += 1;
      seat.serving = startHookProcess(site.world, site.undo, settings);
      keepServing(site, seat, settings);
    })
    // Whoever waits for `serving` gets the error.
    .catch(() => undefined);
}

/** Starts a loop for the Transactions of the site. All loops of one site share a finalizer, like replicas of Metacontroller. */
async function startLoopOf(site: Site, hookUrl: string): Promise<Metacontroller> {
  const { world, label, undo } = site;
  const name = Object.values(label)[0] ?? '';
  const transport = httpTransport();
  const fetchHook: FetchHook = async (request) => {
    await site.beforeCalls();
    return transport.fetchHook(request);
  };
  const options = { kubeconfig: world.kubeconfig, hookUrl, name, matchLabels: label, workers: 50, token: hookToken };
  const loop = await startMetacontroller({ ...options, fetchHook });
  undo.add(() => transport.close());
  undo.add(() => loop.stop());
  return loop;
}

/** Stops the loops: the hooks go on without calls. */
export async function stopLoops({ seats }: Site): Promise<void> {
  await Promise.all(seats.map(({ loop }) => loop.stop()));
}

export async function closeSite(site: Site): Promise<void> {
  site.isClosing = true;
  await Promise.allSettled(site.seats.map(({ serving }) => serving));
  await site.undo.run();
}

export function seatOf({ seats }: Site, index = 0): Seat {
  const seat = seats[index];
  if (seat === undefined) throw new Error(`the site has ${seats.length} hooks, number ${index + 1} was asked for`);
  return seat;
}
