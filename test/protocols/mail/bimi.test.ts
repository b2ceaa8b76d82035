import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adviceOnBimi, missingForBimi, parseBimi } from '../../../src/protocols/mail/bimi.ts'
import { discoverDmarc, type DmarcDiscovery } from '../../../src/protocols/dmarc/dmarc-discovery.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { mapResolver } from '../../resolver.ts'
import { hostile } from '../reports/hostile.ts'

const WHOLE = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/vmc.pem'
const NAME = 'default._bimi.example.com'
const advise = (policy: DmarcDiscovery, ...texts: string[]) => {
  const records = texts.map(parseBimi).filter((record) => record !== null)
  return adviceOnBimi({ name: NAME, records, error: null }, policy)
}
const dmarc = (text: string) =>
  discoverDmarc(
    'example.com',
    createDnsQueries(
      mapResolver({ '_dmarc.example.com TXT': [text] }),
      new AbortController().signal,
    ),
  )

describe('a BIMI record', () => {
  it('names a logo and its certificate', () => {
    expect(parseBimi(WHOLE)).toMatchObject({
      logo: 'https://example.com/logo.svg',
      certificate: 'https://example.com/vmc.pem',
      declined: false,
    })
  })
  it('declines with an empty logo', () => {
    expect(parseBimi('v=BIMI1; l=; a=;')).toMatchObject({
      logo: null,
      certificate: null,
      declined: true,
    })
  })
  it.each(['l=https://example.com/logo.svg', 'v=BIMI2; l=', ''])('is not %j', (text) => {
    expect(parseBimi(text)).toBeNull()
  })
  it('is parsed without an error, for any published record', () => {
    fc.assert(fc.property(hostile(), (text) => void parseBimi(`v=BIMI1;${text}`)))
  })
})

describe('missing parts of BIMI', () => {
  it.each([
    [WHOLE, 'v=DMARC1; p=reject', []],
    [WHOLE, 'v=DMARC1; p=none', [/quarantine or reject/]],
    [WHOLE, 'v=DMARC1; p=quarantine; t=y', [/quarantine or reject/]],
    [WHOLE, 'v=DMARC1; p=reject; sp=none', [/subdomains/]],
    ['v=BIMI1; l=http://example.com/logo.svg', 'v=DMARC1; p=reject', [/https/, /certificate/]],
    ['', 'v=DMARC1; p=reject', [/BIMI record/]],
  ])('for %j with %j is %j', async (text, policy, missing) => {
    expect(missingForBimi(parseBimi(text), await dmarc(policy))).toEqual(
      missing.map((why) => expect.stringMatching(why)),
    )
  })
  it('is reported only for domains with a record', async () => {
    const policy = await dmarc('v=DMARC1; p=none')
    expect(advise(policy)).toEqual([])
    expect(advise(policy, WHOLE)).toMatchObject([{ about: 'bimi', severity: 'info' }])
    expect(advise(policy, 'v=BIMI1; l=; a=')).toEqual([])
    expect(advise(policy, 'v=BIMI1; avp=brand')).toMatchObject([
      { message: expect.stringMatching(/SVG logo/) },
    ])
  })
  it('is a single record where there are several', async () => {
    const reject = await dmarc('v=DMARC1; p=reject')
    // Which of two records is meant is not certain.
    expect(advise(reject, WHOLE, 'v=BIMI1; l=; a=')[0]?.publish).toBeUndefined()
    expect(advise(reject, WHOLE, WHOLE.replaceAll('; ', ';'))).toEqual([
      {
        about: 'bimi',
        severity: 'error',
        message: expect.stringMatching(/default\._bimi\.example\.com has 2 BIMI records/),
        publish: { name: NAME, type: 'TXT', value: WHOLE },
      },
    ])
  })
})
