import { createHash } from 'node:crypto'

/**
 * What servers are known to do that no standard lets one expect. Each entry names where it was seen. What is a matter of
 * response codes and wording is in `refusals.ts`.
 */

/**
 * Courier's answer for a message whose file is gone (imap/fetch.c, version 3 to 5). It gives it until the client is told
 * of the EXPUNGE, and its RFC822.SIZE is then the size of this: a scan that comes late finds nothing wrong with it.
 */
const COURIER_STAND_IN = Buffer.from(
  'From: System Administrator <root@localhost>\r\nSubject: message unavailable\r\n\r\n' +
    'This message is no longer available on the server.\r\n',
)

/**
 * Whether a greeting is Courier's. It lists folders and stores dates in ways that no capability announces.
 */
export function isCourierGreeting(greeting: string): boolean {
  return /\bCourier-IMAP\b/.test(greeting)
}

export function isCourierStandIn(body: Buffer): boolean {
  return body.length === COURIER_STAND_IN.length && body.equals(COURIER_STAND_IN)
}

/** Exchange's answer for an item that it cannot convert into a mail; its From has no address. */
export function isExchangeStandIn(body: Buffer): boolean {
  const [head = ''] = body.toString('latin1', 0, 4_096).split('\r\n\r\n', 1)
  return (
    /^From: "?Microsoft Exchange Server/im.test(head) &&
    /^Subject: Retrieval using the IMAP4 protocol failed for the following/im.test(head)
  )
}

/** The bytes of a body, how its lines end, and what tells it from others. */
export type BodyMeasure = { bytes: number; crlf: number; bareLf: number; bareCr: number; digest: string }

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
    end: () => ({ bytes, crlf, bareLf, bareCr: bareCr + Number(endsInCr), digest: hash.digest('hex') }),
  }
}

export function measureBody(body: Buffer): BodyMeasure {
  const meter = createMeter()
  meter.write(body)
  return meter.end()
}

/**
 * Whether RFC822.SIZE may be told of a body, though it is not the number of its bytes:
 * - the file is counted, whose lines end in LF, and CRLF is sent (mbox and Maildir servers without a cache of sizes)
 * - CRLF is counted, and the bare LF of the file are sent, or the bare CR too (older Dovecot, Gmail for such mail)
 */
export function isKnownMiscount(told: number, { bytes, crlf, bareLf, bareCr }: BodyMeasure): boolean {
  return told === bytes - crlf || told === bytes + bareLf || told === bytes + bareLf + bareCr
}

/**
 * Exchange tells an approximation of every size unless its administrator asks for exact ones (Microsoft Q191504), Kerio
 * and others guess too. A connection that did so for this many messages, each given twice alike, is believed from then on.
 */
export const ESTIMATES_PROVEN = 5

/** An estimate is not off by more than this factor; what is needs its own proof. */
export const ESTIMATE_FACTOR = 2
