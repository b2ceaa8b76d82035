import { Type } from 'typebox'
import type { ChannelType } from './channel-type.ts'
import { apprise } from './apprise.ts'
import { discord } from './discord.ts'
import { email, EmailChannelBody } from './email.ts'
import { googleChat } from './google-chat.ts'
import { gotify } from './gotify.ts'
import { jsm } from './jsm.ts'
import { matrix } from './matrix.ts'
import { mattermost } from './mattermost.ts'
import { ntfy } from './ntfy.ts'
import { pagerDuty } from './pagerduty.ts'
import { pushover } from './pushover.ts'
import { rocketChat } from './rocketchat.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { template } from './message-template.ts'
import { webhook, WebhookChannelBody } from './webhook.ts'

/** Types with encrypted settings, in the order of their names. */
const SERVICE_TYPES: ChannelType[] = [
  apprise,
  template,
  discord,
  googleChat,
  gotify,
  jsm,
  matrix,
  mattermost,
  teams,
  ntfy,
  pagerDuty,
  pushover,
  rocketChat,
  slack,
  telegram,
]

/** All channel types, in the order of the form. */
export const CHANNEL_TYPES: ChannelType[] = [email, webhook, ...SERVICE_TYPES]

const BY_ID = new Map(CHANNEL_TYPES.map((type) => [type.id, type]))

/** The type of a stored channel. */
export function channelTypeOf({ type }: { type: string }): ChannelType {
  const found = BY_ID.get(type)
  // A later version wrote it.
  if (!found) throw new Error(`this version has no alert channels of type ${type}`)
  return found
}

const idsOf = (holds: (type: ChannelType) => boolean) =>
  CHANNEL_TYPES.filter(holds).map(({ id }) => id)

export const CHANNEL_TYPE_IDS = CHANNEL_TYPES.map(({ id }) => id)

/** Types that collect alerts into one message: all of them, and those of bursts only. */
export const BATCHED_TYPES = idsOf(({ grouping }) => grouping !== 'never')
export const BURST_TYPES = idsOf(({ grouping }) => grouping === 'bursts')

/** Services that keep an incident open until they get its end. */
export const PAGING_TYPES = idsOf(({ group }) => group === 'paging')

/** Services that can show who handles an incident. */
export const HANDLING_TYPES = idsOf(({ showsHandling }) => showsHandling)

/** Messages a minute of the types that have a limit. */
export const MESSAGES_PER_MINUTE = Object.fromEntries(
  CHANNEL_TYPES.flatMap(({ id, perMinute }) => (perMinute === null ? [] : [[id, perMinute]])),
) as Record<string, number>

/** Request body of a new channel. */
export const NewChannel = Type.Union(
  [EmailChannelBody, WebhookChannelBody, ...SERVICE_TYPES.map(({ schema }) => schema)] as [
    typeof EmailChannelBody,
    typeof WebhookChannelBody,
  ],
  {
    examples: [
      {
        type: 'webhook',
        url: 'https://chat.example/hooks/portreeve',
        quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
      },
    ],
  },
)
