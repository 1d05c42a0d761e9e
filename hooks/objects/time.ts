// Durations as Kubernetes writes them ("5m30s"), in ms here, and times as Kubernetes stores them.

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parses a Go duration into ms. Undefined if the text is no duration. Source of the form: Go, time.ParseDuration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text) || text.length > 32) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g);
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0), 0);
}

/** ms as a person writes it: "1m30s". */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.map(([amount, unit]) => (amount === 0 ? '' : `${amount}${unit}`)).join('') || '0s';
}

/** RFC 3339 in UTC with whole seconds, as `metav1.Time` is written. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/**
 * The error in ms that the difference of two times of the API server may have: its `Date` header and its objects have whole
 * seconds.
 */
export const serverTimeResolution = 2_000;

const storable = { least: Date.parse('0000-01-01T00:00:00Z'), most: Date.parse('9999-12-31T23:59:59Z') } as const;

/** The nearest time that has four digits for the year: the CRD accepts no others. */
export function storableTime(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, storable.least), storable.most);
}

/** Ms: times in a status are whole seconds (formatTime). */
export const storedResolution = 1_000;

/** The first time from then on that the status stores unchanged, so that a period that begins at it is never too short. In ms. */
export function roundedUp(time: number): number {
  return Math.ceil(time / storedResolution) * storedResolution;
}

/** RFC 3339 with six fraction digits, as `metav1.MicroTime` must be written: the API server refuses three. */
export function formatMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}

// The engine could not write other times back: the year has four digits.
const [earliest, latest] = [Date.UTC(1, 0), Date.UTC(10_000, 0) - 1];

/** ms since the epoch, or undefined if the text is no time. */
export function parseTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return time >= earliest && time <= latest ? time : undefined;
}

/** Ms: clocks of several API servers do not differ by so much. */
const farAhead = 60_000;

/** A stored time that has not come yet proves nothing. A period that begins at it has lasted since `createdAt`. All in ms. */
export function believedTime(time: number, createdAt: number, now: number): number {
  return time > now + farAhead ? Math.min(now, createdAt) : time;
}
