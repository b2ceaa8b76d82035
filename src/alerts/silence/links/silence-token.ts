import { createHmac } from 'node:crypto'
import { defineSignedToken } from '../../../signed-token.ts'
import { LINK_LIFETIME_SECONDS } from '../limits.ts'

/** What a link in a message is for: the incident of an alert, as one channel got it. */
export type LinkSubject = { alertId: string; channelId: string }

/**
 * Lets anyone act once on the incident of an alert. The alert belongs to one workspace and one
 * incident. It expires a week later.
 */
export const linkToken = defineSignedToken({
  purpose: 'link of an alert',
  fields: { alertId: 'uuid', channelId: 'uuid' },
  macBytes: 20,
  encoding: 'hex',
  lifetime: LINK_LIFETIME_SECONDS,
  earlierMac: (key, content) => createHmac('sha256', `alert action link ${key}`).update(content),
})
