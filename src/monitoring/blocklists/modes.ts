import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'

/** Effect of a listing: raise an alert; only count it; or do not query the blocklist at all. */
export const LIST_MODES = ['alert', 'watch', 'mute'] as const
export type ListMode = (typeof LIST_MODES)[number]

export type ListModes = Record<string, ListMode>

/** The mode set for the host, else for the workspace, else the default of the catalogue. */
export function modeOf(
  list: Pick<Blocklist, 'zone' | 'alert'>,
  host: ListModes,
  workspace: ListModes,
): ListMode {
  return host[list.zone] ?? workspace[list.zone] ?? defaultMode(list)
}

export function defaultMode({ alert }: Pick<Blocklist, 'alert'>): ListMode {
  return alert ? 'alert' : 'watch'
}

/** Whether many mail servers reject mail because of this blocklist. */
export function isImportant({ category }: Pick<Blocklist, 'category'>): boolean {
  return category === 'critical' || category === 'major'
}
