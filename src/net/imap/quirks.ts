import { createHash } from 'node:crypto'

/**
 * Behavior of servers that no standard predicts. Each entry names the server. Response codes and
 * texts are interpreted in `connection/refusals.ts`, fallbacks for LIST are in
 * `folders/list-fallback.ts`, and dates that servers reject in `append/flags-and-dates.ts`.
 */

/**
 * Courier’s response for a message whose file is gone (imap/fetch.c, version 3 to 5). It is
 * returned until the client has been notified of the EXPUNGE, and RFC822.SIZE is then the size of
 * this text, so that a later scan finds nothing wrong.
 */
const COURIER_STAND_IN = Buffer.from(
  'From: System Administrator <root@localhost>\r\nSubject: message unavailable\r\n\r\n' +
    'This message is no longer available on the server.\r\n',
)

/** Whether a greeting is Courier’s. No capability announces its behavior. */
export function isCourierGreeting(greeting: string): boolean {
  return /\bCourier-IMAP\b/.test(greeting)
}

/** Whether a greeting is Cyrus’s, which may create a mailbox at the sign-in of a new name. */
export function isCyrusGreeting(greeting: string): boolean {
  return /\bCyrus IMAP\b/.test(greeting)
}

export function isCourierStandIn(body: Buffer): boolean {
  return body.length === COURIER_STAND_IN.length && body.equals(COURIER_STAND_IN)
}

/** Exchange’s response for an item that it cannot convert to an email. Its From has no address. */
export function isExchangeStandIn(body: Buffer): boolean {
  const [head = ''] = body.toString('latin1', 0, 4_096).split('\r\n\r\n', 1)
  return (
    /^From: "?Microsoft Exchange Server/im.test(head) &&
    /^Subject: Retrieval using the IMAP4 protocol failed for the following/im.test(head)
  )
}

/** The size of a body, its line endings, and a digest. */
export type BodyMeasure = {
  bytes: number
  crlf: number
  bareLf: number
  bareCr: number
  digest: string
}

/** Measures a body while it passes. */
export function createMeter(): { write(chunk: Buffer): void; end(): BodyMeasure } {
  const hash = createHash('sha256')
  let [bytes, crlf, bareLf, bareCr, endsInCr] = [0, 0, 0, 0, false]
  return {
    write(chunk) {
      hash.update(chunk)
      bytes += chunk.length
      for (const byte of chunk) {
        if (byte === 0x0a) {
          if (endsInCr) crlf += 1
          else bareLf += 1
        } else if (endsInCr) bareCr += 1
        endsInCr = byte === 0x0d
      }
    },
    end: () => ({
      bytes,
      crlf,
      bareLf,
      bareCr: bareCr + Number(endsInCr),
      digest: hash.digest('hex'),
    }),
  }
}

export function measureBody(body: Buffer): BodyMeasure {
  const meter = createMeter()
  meter.write(body)
  return meter.end()
}

/**
 * Whether a server may report this RFC822.SIZE for a body, although it is not the number of its
 * bytes:
 * - It counts the file, whose lines end in LF, and sends CRLF (mbox and Maildir servers without a
 *   cache of sizes).
 * - It counts CRLF, and sends the bare LF of the file, or the bare CR too (older Dovecot, Gmail for
 *   such mail).
 */
export function isKnownMiscount(
  told: number,
  { bytes, crlf, bareLf, bareCr }: BodyMeasure,
): boolean {
  return told === bytes - crlf || told === bytes + bareLf || told === bytes + bareLf + bareCr
}

/**
 * Exchange reports an approximate size unless its administrator enables exact ones (Microsoft
 * Q191504); Kerio and others estimate, too. After so many messages that were each returned
 * identically twice, estimates of a connection are accepted.
 */
export const ESTIMATES_PROVEN = 5

/** An estimate differs by up to this factor. Beyond it, a size needs its own proof. */
export const ESTIMATE_FACTOR = 2
