// Spans of time for people.

/** `0:07`, `12:40`, `1:02:03`; a negative one with a minus. */
export function clockOf(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const seconds = Math.floor(Math.abs(milliseconds) / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  const two = (number: number): string => String(number).padStart(2, '0');
  return hours > 0 ? `${sign}${hours}:${two(minutes)}:${two(rest)}` : `${sign}${minutes}:${two(rest)}`;
}

/** Formats ages as kubectl does: `45s`, `5m`, `3h`, `2d`. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
