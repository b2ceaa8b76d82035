import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rspamdEngine } from '../../src/deliverability/mail-tests/engines/rspamd.ts'
import {
  readSymbols,
  spamassassinEngine,
} from '../../src/deliverability/mail-tests/engines/spamassassin.ts'
import type { EngineMail } from '../../src/deliverability/mail-tests/engines/engine.ts'
import { freePort } from '../free-port.ts'
import { startRspamd, startSpamd, type SpamFilter } from '../servers/spam-filters.ts'

/** Text that every filter takes as spam (GTUBE). */
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

const mailOf = (text: string): EngineMail => ({
  content: Buffer.from(
    [
      'From: a@sender.test',
      'To: b@tests.test',
      'Subject: Hello',
      `Date: ${new Date().toUTCString()}`,
      'Message-ID: <1@sender.test>',
      '',
      text,
      '',
    ].join('\r\n'),
  ),
  ip: '93.184.216.34',
  helo: 'mail.sender.test',
  mailFrom: 'a@sender.test',
  rcptTo: 'b@tests.test',
  hostname: 'mail.sender.test',
  tlsVersion: 'TLSv1.3',
})
const signal = () => AbortSignal.timeout(120_000)

describe('the operator’s spam filters', () => {
  let rspamd: SpamFilter
  let spamd: SpamFilter

  beforeAll(async () => {
    ;[rspamd, spamd] = await Promise.all([startRspamd(), startSpamd()])
  }, 180_000)
  afterAll(async () => {
    await Promise.all([rspamd?.stop(), spamd?.stop()])
  })

  it('rspamd says what it would do, and which rules matched', async () => {
    const ask = rspamdEngine(`http://127.0.0.1:${rspamd.port}`)
    const plain = await ask(mailOf('Thank you for your order.'), signal())
    expect(plain).toMatchObject({ engine: 'rspamd', state: 'checked', reason: null })
    expect(plain.symbols.length).toBeGreaterThan(0)
    expect(await ask(mailOf(GTUBE), signal())).toMatchObject({ action: 'reject' })
  })

  it('SpamAssassin says how many points it gives, and which rules matched', async () => {
    const ask = spamassassinEngine({ address: '127.0.0.1', port: spamd.port })
    const plain = await ask(mailOf('Thank you for your order.'), signal())
    expect(plain).toMatchObject({
      engine: 'spamassassin',
      state: 'checked',
      action: 'no spam',
      threshold: 5,
    })
    const spam = await ask(mailOf(GTUBE), signal())
    expect(spam.action).toBe('spam')
    expect(spam.symbols[0]).toMatchObject({ name: 'GTUBE', score: 1000 })
  })

  it('are “not checked” when they do not answer', async () => {
    const port = await freePort()
    const mail = mailOf('x')
    expect(await rspamdEngine(`http://127.0.0.1:${port}`)(mail, signal())).toMatchObject({
      state: 'not-checked',
      score: null,
      reason: expect.stringContaining('did not answer'),
    })
    expect(await spamassassinEngine({ address: '127.0.0.1', port })(mail, signal())).toMatchObject({
      state: 'not-checked',
      score: null,
    })
  })
})

describe('a report of SpamAssassin', () => {
  it('has a rule a line, whose description may go on', () => {
    const report =
      ' pts rule name              description\n---- ---\n 1.3 RULE_ONE               BODY: begins\n                            and goes on\n-0.1 RULE_TWO               text\n'
    expect(readSymbols(report)).toEqual([
      { name: 'RULE_ONE', score: 1.3, description: 'BODY: begins and goes on' },
      { name: 'RULE_TWO', score: -0.1, description: 'text' },
    ])
  })
})
