import { createHmac } from 'node:crypto'
import { defineSignedToken } from '../../signed-token.ts'

/**
 * Turns off one member’s digest of one workspace. It does not expire, so that the link in an old
 * email works, and allows nothing else.
 */
export const unsubscribeToken = defineSignedToken({
  purpose: 'unsubscribing from the digest',
  fields: { workspaceId: 'uuid', accountId: 'uuid' },
  macBytes: 24,
  encoding: 'base64url',
  earlierMac: (key, content) => createHmac('sha256', `digest unsubscribe ${key}`).update(content),
})
