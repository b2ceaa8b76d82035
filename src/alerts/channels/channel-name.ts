import { channelTypeOf } from './channel-types.ts'
import type { ChannelRow } from './channel.ts'

type Target = Pick<ChannelRow, 'type' | 'target' | 'settingsShown'>

/** What a channel sends to, without secrets: `alice@example.com`, `ntfy.sh/alerts`. */
export function targetNameOf(channel: Target): string {
  const type = channelTypeOf(channel)
  return type.targetField === null ? type.nameOf(channel) : type.maskTarget(channel.target)
}

/** Name of a channel for people, without secrets: `#ops (Slack)`, `on call (oncall@example.com)`. */
export function channelNameOf(channel: Target & Pick<ChannelRow, 'label'>): string {
  const type = channelTypeOf(channel)
  const target = targetNameOf(channel)
  if (channel.label === '') return target
  return `${channel.label} (${type.isEmail ? target : type.name})`
}
