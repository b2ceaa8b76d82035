import { expect, it } from 'vitest'
import { rspamdEngine } from '../../src/deliverability/mail-tests/engines/rspamd.ts'
import {
  readSymbols,
  spamassassinEngine,
} from '../../src/deliverability/mail-tests/engines/spamassassin.ts'
import { freePort } from '../free-port.ts'
import { engineMail } from './engine-mail.ts'

it('the operator’s spam filters are “not checked” when they do not answer', async () => {
  const port = await freePort()
  const mail = engineMail('x')
  const signal = AbortSignal.timeout(120_000)
  expect(await rspamdEngine(`http://127.0.0.1:${port}`)(mail, signal)).toMatchObject({
    state: 'not-checked',
    score: null,
    reason: expect.stringContaining('did not answer'),
  })
  expect(await spamassassinEngine({ address: '127.0.0.1', port })(mail, signal)).toMatchObject({
    state: 'not-checked',
    score: null,
  })
})

it('a report of SpamAssassin has a rule a line, whose description may go on', () => {
  const report =
    ' pts rule name              description\n---- ---\n 1.3 RULE_ONE               BODY: begins\n                            and goes on\n-0.1 RULE_TWO               text\n'
  expect(readSymbols(report)).toEqual([
    { name: 'RULE_ONE', score: 1.3, description: 'BODY: begins and goes on' },
    { name: 'RULE_TWO', score: -0.1, description: 'text' },
  ])
})
