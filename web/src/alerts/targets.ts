import type { Channel } from './api.ts'

/** The address or URL that a channel sends to. */
export function targetOf({ address, url }: Pick<Channel, 'address' | 'url'>): string {
  return address ?? url ?? ''
}

/** The path of an alert’s page, for whichever host name this dashboard was opened under. */
export function pathOf(url: string): string {
  return new URL(url).pathname
}
