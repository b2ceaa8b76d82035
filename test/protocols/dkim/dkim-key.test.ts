import { generateKeyPairSync } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDkimKey, type DkimKey } from '../../../src/protocols/dkim/dkim-key.ts'
import { hostile, within } from '../reports/hostile.ts'

function key(text: string): DkimKey {
  const parsed = parseDkimKey(text)
  if (!parsed) throw new Error(`no key record: ${text}`)
  return parsed
}

const rsa = (bits: number, type: 'spki' | 'pkcs1') =>
  generateKeyPairSync('rsa', { modulusLength: bits })
    .publicKey.export({ format: 'der', type })
    .toString('base64')
const ED25519 = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

describe('a DKIM key record', () => {
  it.each([
    [512, 'spki'],
    [1024, 'spki'],
    [2048, 'spki'],
    [1024, 'pkcs1'],
    [2048, 'pkcs1'],
  ] as const)('has an RSA key of %i bits, written as %s', (bits, type) => {
    expect(key(`v=DKIM1; k=rsa; p=${rsa(bits, type)}`)).toMatchObject({
      keyType: 'rsa',
      bits,
      revoked: false,
      errors: [],
    })
  })

  it('has a key that is broken into pieces by spaces', () => {
    const p = rsa(1024, 'spki').replaceAll(/(.{40})/g, '$1 ')
    expect(key(`k=rsa;p=${p}`)).toMatchObject({ bits: 1024, errors: [] })
  })

  it('has an Ed25519 key, as in RFC 8463', () => {
    expect(key(`v=DKIM1; k=ed25519; p=${ED25519}`)).toMatchObject({
      keyType: 'ed25519',
      bits: 256,
      errors: [],
    })
  })

  it('needs no version, and is for RSA by default', () => {
    expect(key(`p=${rsa(1024, 'spki')}`)).toMatchObject({ keyType: 'rsa', bits: 1024, errors: [] })
  })

  it('is withdrawn when the key is empty', () => {
    expect(key('v=DKIM1; p=')).toMatchObject({ revoked: true, bits: null, errors: [] })
  })

  it('has flags, hashes and services', () => {
    expect(key(`v=DKIM1; t=y:s; h=sha1:sha256; s=email; p=`)).toMatchObject({
      testing: true,
      strict: true,
      hashes: ['sha1', 'sha256'],
      errors: [],
    })
  })

  it.each([
    ['v=DKIM1', /no key/],
    ['v=DKIM1; k=rsa', /no key/],
    ['v=DKIM1; k=dsa; p=AAAA', /not a DKIM key type/],
    ['v=DKIM1; p=***', /not Base64/],
    ['v=DKIM1; p=AAAA', /not an RSA public key/],
    [`v=DKIM1; p=${rsa(1024, 'spki').slice(0, 100)}`, /not an RSA public key/],
    [`v=DKIM1; p=${ED25519}`, /not an RSA public key/],
    ['v=DKIM1; k=ed25519; p=AAAA', /exactly 32 bytes/],
    ['v=DKIM1; h=sha1; p=', /sha256/],
    ['v=DKIM1; s=other; p=', /not meant/],
    ['p=; v=DKIM1', /come first/],
    ['v=DKIM1; nonsense; p=', /character 10/],
    ['v=DKIM1;; p=', /character 9, nothing stands between two semicolons$/],
    ['v=DKIM1; p=;;', /character 13, nothing stands between/],
    ['v=DKIM1; k=rsa; k=rsa; p=', /character 17, k is given more than once$/],
    ['v=dkim1; p=', /exactly `v=DKIM1`/],
  ])('says why receivers refuse %j', (text, why) => {
    expect(key(text).errors).toEqual([expect.stringMatching(why)])
  })

  it.each(['', 'v=spf1 -all', 'v=DKIM2; p=', 'v=DMARC1; p=none', 'some text', 'k=rsa'])(
    'is not %j',
    (text) => {
      expect(parseDkimKey(text)).toBeNull()
    },
  )
})

describe('a repaired DKIM key record', () => {
  it.each([
    ['v=DKIM1;; p=', 'v=DKIM1; p='],
    ['p=; v=dkim1; t=s;;', 'v=DKIM1; p=; t=s'],
    ['v=DKIM1; k=rsa; k=rsa; nonsense; x=1; p=', 'v=DKIM1; k=rsa; x=1; p='],
  ])('of %j is %j', (text, mended) => {
    expect(key(text).mended).toBe(mended)
    expect(key(mended)).toMatchObject({ errors: [], mended: null })
  })
})

describe('any published record', () => {
  it('is read without an error', () => {
    fc.assert(
      fc.property(hostile(), fc.base64String(), (text, base64) => {
        for (const candidate of [
          text,
          `v=DKIM1; ${text}`,
          `v=DKIM1; p=${text}`,
          `p=${base64}`,
          `k=ed25519;p=${base64}`,
        ]) {
          parseDkimKey(candidate)
        }
      }),
    )
  })

  it('is read in a time in proportion to its length', () => {
    within(
      parseDkimKey,
      ['A', '=', ' ', ':', 'A ', ';', 'p=;'],
      ['v=DKIM1; p=', 'v=DKIM1; t=', 'k=ed25519; p='],
    )
  })
})
