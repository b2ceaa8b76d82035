/**
 * The selection after a row was switched on or off. With an anchor, every row between it and this
 * one is switched, too, as with Shift and a click in a file manager.
 * @param ids of the shown rows, in order
 */
export function toggleRows(
  selected: ReadonlySet<string>,
  ids: string[],
  { id, isOn, anchor }: { id: string; isOn: boolean; anchor: string | null },
): Set<string> {
  const to = ids.indexOf(id)
  const from = anchor === null ? -1 : ids.indexOf(anchor)
  const changed = from < 0 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1)
  return isOn
    ? new Set([...selected, ...changed])
    : new Set([...selected].filter((one) => !changed.includes(one)))
}
