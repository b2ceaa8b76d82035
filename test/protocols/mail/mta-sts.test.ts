import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  adviceOnMtaSts,
  matchesMx,
  parseStsPolicy,
  parseStsRecord,
  policyUrl,
  type FetchedPolicy,
} from '../../../src/protocols/mail/mta-sts.ts'
import { hostile, within } from '../reports/hostile.ts'

/** RFC 8461, Appendix A. */
const POLICY =
  'version: STSv1\r\nmode: enforce\r\nmx: mx1.example.com\r\nmx: *.example.net\r\nmax_age: 1296000\r\n'
const RECORD = 'v=STSv1; id=20160831085700Z;'

describe('an MTA-STS record', () => {
  it('has an id', () => {
    expect(parseStsRecord(RECORD)).toEqual({
      text: RECORD,
      id: '20160831085700Z',
      isRepeated: false,
    })
  })
  it.each(['v=STSv1;', 'v=STSv1 ; id=', 'v=STSv1; id=2026-11-21', `v=STSv1; id=${'1'.repeat(33)}`])(
    'of the form %j has none',
    (text) => {
      expect(parseStsRecord(text)).toEqual({ text, id: null, isRepeated: false })
    },
  )
  it.each([
    'v=STSv1',
    'v=stsv1; id=1',
    'v = STSv1; id=1',
    ' v=STSv1; id=1',
    'v=STSv2; id=1',
    'id=1; v=STSv1',
    'v=spf1 -all',
    '',
  ])('is not %j', (text) => {
    expect(parseStsRecord(text)).toBeNull()
  })
})

describe('an MTA-STS policy', () => {
  it('is read as RFC 8461 shows it', () => {
    expect(parseStsPolicy(POLICY)).toEqual({
      mode: 'enforce',
      mx: ['mx1.example.com', '*.example.net'],
      maxAge: 1_296_000,
      errors: [],
    })
  })
  it('may have any line ends and unknown keys', () => {
    const text = 'version:STSv1\nmode:  none\nmax_age:0\nextension: a:b\n\n'
    expect(parseStsPolicy(text)).toEqual({ mode: 'none', mx: [], maxAge: 0, errors: [] })
  })
  it.each([
    ['version: STSv1\nmode: enforce\nmax_age: 1', /`mx` is missing/],
    ['version: STSv2\nmode: none\nmax_age: 1', /version/],
    ['version: STSv1\nmode: Enforce\nmx: a.example\nmax_age: 1', /`mode`/],
    ['version: STSv1\nmode: enforce\nmx: a.example\nmax_age: 31557601', /max_age/],
    ['version: STSv1\nmode: enforce\nmx: a.example\nmax_age: soon', /max_age/],
    ['version: STSv1\nmode: enforce\nmx: *.*.example\nmax_age: 1', /`mx` must be a host name/],
  ])('of the form %j cannot be used', (text, why) => {
    expect(parseStsPolicy(text).errors).toEqual([expect.stringMatching(why)])
  })
  it('is at one place only', () => {
    expect(policyUrl('example.com').href).toBe(
      'https://mta-sts.example.com/.well-known/mta-sts.txt',
    )
  })
  it.each([
    ['mail.example.com', 'MAIL.example.com', true],
    ['*.example.com', 'mail.example.com', true],
    ['*.example.com', 'a.mail.example.com', false],
    ['*.example.com', 'example.com', false],
    ['example.com', 'mail.example.com', false],
  ])('with %s matches %s: %s', (pattern, host, matches) => {
    expect(matchesMx(pattern, host)).toBe(matches)
  })
})

const advise = (texts: string[], fetched: FetchedPolicy | null, exchanges = ['mx1.example.com']) =>
  adviceOnMtaSts({
    domain: 'example.com',
    found: { exists: true, alias: null, error: null, texts },
    fetched,
    exchanges,
    now: new Date('2026-11-21T12:00:00Z'),
  })
const policy = (changes: [string | RegExp, string][] = []) => ({
  policy: parseStsPolicy(changes.reduce((text, [from, to]) => text.replace(from, to), POLICY)),
  contentType: 'text/plain; charset=utf-8',
})

describe('advice on MTA-STS', () => {
  it('is silent when all is well', () => {
    expect(advise([RECORD], policy())).toEqual([])
  })
  it('proposes no record that makes senders stop delivering to a mail server', () => {
    const host = fc.constantFrom('mx1.example.com', 'a.example.net', 'mx.example.org')
    const texts = fc.constantFrom<string[][]>(
      ['v=STSv1 id=1'],
      ['V=STSV1; id=1'],
      ['v=STSv1; id='],
      [RECORD, RECORD],
      ['v=STSv1; id=1; x'],
    )
    const mode = fc.constantFrom('enforce', 'testing', 'none')
    fc.assert(
      fc.property(texts, mode, fc.uniqueArray(host, { minLength: 1 }), (found, wanted, hosts) => {
        const advice = advise(found, policy([['enforce', wanted]]), hosts)
        const isLeftOut = wanted === 'enforce' && hosts.includes('mx.example.org')
        expect(advice.some(({ publish }) => publish)).toBe(!isLeftOut)
        expect(
          advice.some(({ message }) => /stop delivering to mx\.example\.org:/.test(message)),
        ).toBe(isLeftOut)
      }),
    )
  })
  it('is silent about its absence where no mail is received', () => {
    expect(advise([], null, [])).toEqual([])
  })
  it.each([
    ['info', /can redirect or read mail/, advise([], null)],
    ['error', /1 to 32/, advise(['v=STSv1; id='], policy())],
    ['error', /must begin with exactly `v=STSv1;`/, advise(['v=stsv1; id=1'], null)],
    ['warning', /id is given more than once/, advise(['v=STSv1; id=1; id=2'], policy())],
    ['error', /several/, advise([RECORD, RECORD], policy())],
    ['error', /status 404/, advise([RECORD], { failure: 'It answered with status 404.' })],
    [
      'error',
      /does not include .*mx9\.example\.org\. Senders do not deliver/,
      advise([RECORD], policy(), ['mx9.example.org']),
    ],
    ['error', /`mx` is missing/, advise([RECORD], policy([[/^mx:.*\r\n/gm, '']]))],
    ['info', /in test mode/, advise([RECORD], policy([['enforce', 'testing']]))],
    ['info', /turned off/, advise([RECORD], policy([['enforce', 'none']]))],
    ['warning', /less than a day/, advise([RECORD], policy([['1296000', '3600']]))],
    ['warning', /text\/plain/, advise([RECORD], { ...policy(), contentType: 'text/html' })],
  ])('is of the kind %s: %s', (severity, message, advice) => {
    expect(advice).toMatchObject([
      { about: 'mta-sts', severity, message: expect.stringMatching(message) },
    ])
  })
  it('gives a new id to publish', () => {
    expect(advise(['v=STSv1'], null)[0]?.publish).toEqual({
      name: '_mta-sts.example.com',
      type: 'TXT',
      value: 'v=STSv1; id=20261121120000',
    })
  })
})

describe('any published record', () => {
  it('is read without an error', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        parseStsRecord(text)
        parseStsRecord(`v=STSv1;${text}`)
        parseStsPolicy(text)
        matchesMx(text, text)
      }),
    )
  })
  it('is read in a time in proportion to its length', () => {
    within(
      parseStsPolicy,
      ['mx: a.example\n', 'mx:', '\n', ' ', 'a.', ':', '*.'],
      ['', 'mx: ', 'max_age: '],
    )
  })
})
