import type { Blocklist } from '../../protocols/dnsbl/catalogue.ts'

/** What a listing means: tell me; count it and write it down; or do not even ask. */
export const MODES = ['alert', 'watch', 'mute'] as const
export type Mode = (typeof MODES)[number]

export type Choices = Record<string, Mode>

/** The host's own choice, else the account's, else the catalogue's. */
export function modeOf(list: Pick<Blocklist, 'zone' | 'alert'>, host: Choices, account: Choices): Mode {
  return host[list.zone] ?? account[list.zone] ?? defaultMode(list)
}

export function defaultMode({ alert }: Pick<Blocklist, 'alert'>): Mode {
  return alert ? 'alert' : 'watch'
}

/** Lists whose entries get mail refused at many places. */
export function isGrave({ category }: Pick<Blocklist, 'category'>): boolean {
  return category === 'critical' || category === 'major'
}
