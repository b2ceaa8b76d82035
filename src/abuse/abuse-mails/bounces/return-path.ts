import { createHmac, timingSafeEqual } from 'node:crypto'

/** Bytes of the signature. An address has up to 64 characters before the @ (RFC 5321, 4.5.3.1.1). */
const MAC_BYTES = 8
const TOKEN = /\+([0-9a-f]{32})([0-9a-f]{16})@/i

/**
 * The envelope sender of an email, to which its bounces return. Its signature shows that a bounce is
 * about an email of ours.
 * @param address of the mailbox that gets them
 */
export function createReturnPath(key: string, address: string, mailId: string): string {
  const at = address.lastIndexOf('@')
  const mac = macOf(key, mailId).toString('hex')
  return `${address.slice(0, at)}+${mailId.replaceAll('-', '')}${mac}${address.slice(at)}`
}

/** The email that a return path is of; null when it is not one of ours. */
export function readReturnPath(key: string, returnPath: string): string | null {
  const [, hex = '', mac = ''] = TOKEN.exec(returnPath.toLowerCase()) ?? []
  if (hex === '') return null
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return timingSafeEqual(Buffer.from(mac, 'hex'), macOf(key, id)) ? id : null
}

/** The prefix keeps it apart from other signatures with the same key. */
function macOf(key: string, mailId: string): Buffer {
  return createHmac('sha256', key).update(`return path\0${mailId}`).digest().subarray(0, MAC_BYTES)
}
