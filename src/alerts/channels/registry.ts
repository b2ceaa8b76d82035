import { Type } from 'typebox'
import type { ChannelType } from './channel-type.ts'
import { email, EmailChannelBody } from './email.ts'
import type { ChannelTypeName } from './store.ts'
import { webhook, WebhookChannelBody } from './webhook.ts'

/** All channel types. */
export const CHANNEL_TYPES: Record<ChannelTypeName, ChannelType> = { email, webhook }

/** Request body of a new channel. */
export const NewChannel = Type.Union([EmailChannelBody, WebhookChannelBody], {
  examples: [
    {
      type: 'webhook',
      url: 'https://chat.example/hooks/portreeve',
      quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
    },
  ],
})

/** Types that collect alerts into one message. */
export const BATCHED_TYPES = Object.entries(CHANNEL_TYPES).flatMap(([name, type]) =>
  type.isBatched ? [name] : [],
)
