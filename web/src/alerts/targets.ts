import type { Channel } from './api.ts'

/** The address or URL that a channel sends to, or its short name. */
export function targetOf({
  address,
  url,
  name,
}: Pick<Channel, 'address' | 'url' | 'name'>): string {
  return address ?? url ?? name
}

/** The name that a member gave a channel, or what it sends to. */
export function channelName(channel: Pick<Channel, 'address' | 'url' | 'name' | 'label'>): string {
  return channel.label || targetOf(channel)
}
