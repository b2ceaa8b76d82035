import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readReturnPath } from '../src/exchange/abuse-mails/bounces/return-path.ts'
import { createOptOutToken, readOptOutToken } from '../src/exchange/abuse-mails/opt-out.ts'
import { linkToken } from '../src/alerts/silence/links/silence-token.ts'
import { defineSignedToken } from '../src/signed-token.ts'
import { unsubscribeToken } from '../src/digest/unsubscribe/unsubscribe-token.ts'

const [ONE, OTHER] = [
  '01a21804-5742-7840-9377-27eca74c0240',
  '01a21804-5742-7840-9377-27eca74c0241',
]
const MEMBER = { workspaceId: ONE, accountId: OTHER }
const SUBJECT = { alertId: ONE, channelId: OTHER }

const hex = (...ids: string[]) => Buffer.from(ids.join('').replaceAll('-', ''), 'hex')
const macOf = (key: string, content: Buffer | string, bytes: number) =>
  createHmac('sha256', key).update(content).digest().subarray(0, bytes)

describe('a signed token', () => {
  it('is read with its key, also where that is an earlier one', () => {
    const token = unsubscribeToken.create('old', MEMBER)
    expect(unsubscribeToken.read(['new', 'old'], token)).toEqual({ ...MEMBER, isExpired: false })
    expect(unsubscribeToken.read(['new'], token)).toBeNull()
  })

  it.each([0, 16, 31, 32, 40, 55])('is not read with byte %i changed', (at) => {
    const bytes = Buffer.from(unsubscribeToken.create('key', MEMBER), 'base64url')
    bytes[at]! ^= 1
    expect(unsubscribeToken.read(['key'], bytes.toString('base64url'))).toBeNull()
  })

  it.each(['', 'x', 'A'.repeat(76), '../..', '\0'])('is not %j', (token) => {
    expect(unsubscribeToken.read(['key'], token)).toBeNull()
    expect(linkToken.read(['key'], token)).toBeNull()
    expect(readOptOutToken('key', token)).toBeNull()
  })

  it('has a key of its own purpose', () => {
    const [one, other] = ['one', 'other'].map((purpose) =>
      defineSignedToken({
        purpose,
        fields: { name: 'text' },
        macBytes: 16,
        encoding: 'hex',
        earlierMac: (key, content) => createHmac('sha256', `${purpose} ${key}`).update(content),
      }),
    )
    const token = one?.create('key', { name: 'x' }) ?? ''
    expect(one?.read(['key'], token)).toEqual({ name: 'x', isExpired: false })
    expect(other?.read(['key'], token)).toBeNull()
  })

  it('expires', () => {
    const now = Date.UTC(2026, 10, 29)
    const token = linkToken.create('key', SUBJECT, now)
    const weekLater = now + 7 * 86_400_000
    expect(linkToken.read(['key'], token, weekLater - 1_000)?.isExpired).toBe(false)
    expect(linkToken.read(['key'], token, weekLater)).toEqual({ ...SUBJECT, isExpired: true })
  })
})

describe('a token of an earlier version', () => {
  it('unsubscribes', () => {
    const ids = hex(ONE, OTHER)
    const token = Buffer.concat([ids, macOf('digest unsubscribe key', ids, 24)])
    expect(unsubscribeToken.read(['key'], token.toString('base64url'))).toMatchObject(MEMBER)
  })

  it('acts on an alert', () => {
    const expiry = Buffer.alloc(4)
    expiry.writeUInt32BE(4_000_000_000)
    const content = Buffer.concat([hex(ONE, OTHER), expiry])
    const token = Buffer.concat([content, macOf('alert action link key', content, 20)])
    expect(linkToken.read(['key'], token.toString('hex'))).toMatchObject(SUBJECT)
  })

  it('opts an address out', () => {
    const email = Buffer.from('abuse@example.net')
    const token = Buffer.concat([macOf('key', email, 24), email]).toString('base64url')
    expect(readOptOutToken('key', token)).toBe('abuse@example.net')
    expect(readOptOutToken('key', createOptOutToken('key', 'ä@example.net'))).toBe('ä@example.net')
  })

  it('returns a bounce', () => {
    const mac = macOf('key', `return path\0${ONE}`, 8).toString('hex')
    const path = `bounces+${ONE.replaceAll('-', '')}${mac}@example.net`
    expect(readReturnPath('key', path)).toBe(ONE)
    expect(readReturnPath('key', path.toUpperCase())).toBe(ONE)
  })
})
