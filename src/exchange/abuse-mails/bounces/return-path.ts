import { createHmac } from 'node:crypto'
import { defineSignedToken } from '../../../signed-token.ts'

const TOKEN = /\+([0-9a-f]{48})@/i

/** Its signature is short: an address has up to 64 characters before the @ (RFC 5321, 4.5.3.1.1). */
const returnToken = defineSignedToken({
  purpose: 'return path of abuse emails',
  fields: { mailId: 'uuid' },
  macBytes: 8,
  encoding: 'hex',
  earlierMac: (key, content) =>
    createHmac('sha256', key).update(
      `return path\0${content.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`,
    ),
})

/**
 * The envelope sender of an email, to which its bounces return. Its signature shows that a bounce is
 * about an email of ours.
 * @param address of the mailbox that gets them
 */
export function createReturnPath(key: string, address: string, mailId: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}+${returnToken.create(key, { mailId })}${address.slice(at)}`
}

/** The email that a return path is of; null when it is not one of ours. */
export function readReturnPath(key: string, returnPath: string): string | null {
  const [, token = ''] = TOKEN.exec(returnPath) ?? []
  return returnToken.read([key], token)?.mailId ?? null
}
