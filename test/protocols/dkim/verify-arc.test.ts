import { generateKeyPairSync } from 'node:crypto'
import { authenticate, sealMessage } from 'mailauth'
import { describe, expect, it } from 'vitest'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { verifyArc } from '../../../src/protocols/dkim/verify-arc.ts'
import { parseMessage } from '../../../src/protocols/mail/message.ts'
import { mapResolver } from '../../resolver.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const records = {
  's1._domainkey.list.test TXT': [`v=DKIM1; p=${p}`],
  'r.test TXT': ['v=spf1 -all'],
}
const MAIL = 'From: a@r.test\r\nTo: b@list.test\r\nSubject: Hello\r\n\r\nText.\r\n'

/** Seals a mail as a forwarder does, with mailauth. */
async function seal(mail: string): Promise<string> {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const resolver = async (name: string, type: string) => {
    const texts = (records as Record<string, string[]>)[`${name} ${type}`]
    if (!texts) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    return texts.map((text) => [text])
  }
  const options = {
    ip: '127.0.0.1',
    helo: 'mail.r.test',
    sender: 'a@r.test',
    mta: 'list.test',
    resolver,
  }
  const { arc } = await authenticate(mail, options)
  if (!arc) throw new Error('mailauth evaluated no ARC')
  const sealed = await sealMessage(mail, {
    signingDomain: 'list.test',
    selector: 's1',
    privateKey: key,
    authResults: arc.authResults,
    cv: arc.status.result,
  })
  return `${String(sealed)}${mail}`
}

const verify = (mail: string, zone: Record<string, string[]> = records) =>
  verifyArc(
    parseMessage(Buffer.from(mail, 'latin1')),
    createDnsQueries(mapResolver(zone), AbortSignal.timeout(30_000)),
  )

describe('an ARC chain', () => {
  it('is none without its fields', async () => {
    expect(await verify(MAIL)).toMatchObject({ result: 'none', instances: 0 })
  })

  it('passes as another implementation sealed it, with one set and with two', async () => {
    const once = await seal(MAIL)
    expect(await verify(once)).toEqual({
      result: 'pass',
      instances: 1,
      sealedBy: 'list.test',
      reason: null,
    })
    expect(await verify(await seal(once))).toMatchObject({ result: 'pass', instances: 2 })
  })

  it('fails when the body, a seal or the order of sets was changed, or the key is gone', async () => {
    const sealed = await seal(MAIL)
    expect(await verify(sealed.replace('Text.', 'Other.'))).toMatchObject({ result: 'fail' })
    expect(await verify(sealed.replace('cv=none', 'cv=pass'))).toMatchObject({ result: 'fail' })
    expect(await verify(sealed.replace(/i=1;/g, 'i=2;'))).toMatchObject({
      reason: 'set 1 is not complete',
    })
    expect(await verify(sealed, {})).toMatchObject({ result: 'fail' })
  })
})
