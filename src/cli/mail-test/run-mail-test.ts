import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MailFinding, MailTest, TestMailResult } from '../../deliverability/shapes.ts'
import { askService } from '../../net/http/event-stream.ts'
import { SECOND_MS } from '../../time.ts'
import { UsageError } from '../command.ts'
import { apiTokenFrom, serverFrom, serviceUrl } from '../service-access.ts'
import { paint, sanitizeForTerminal } from '../terminal-text.ts'

type MailTestFlags = {
  wait: boolean
  all: boolean
  file?: string | undefined
  domain?: string | undefined
  server?: string | undefined
  'api-token-file'?: string | undefined
}

const REQUEST_TIMEOUT_MS = 60 * SECOND_MS
const POLL_MS = SECOND_MS

/** Creates a mail test. @returns the exit code: 1 when its mail has problems, or none came */
export async function runMailTest(flags: MailTestFlags, json: boolean): Promise<number> {
  const server = serverFrom(flags.server)
  const token = await apiTokenFrom(flags['api-token-file'])
  const ask = async (path: string, body?: object): Promise<MailTest> => {
    const url = serviceUrl(server, `/api/v1/mail-tests${path}`)
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    return (await askService<{ data: MailTest }>(url, token, signal, 'data', body && { body })).data
  }
  const { domain, file } = flags
  const given = domain === undefined ? {} : { domain }
  const test =
    file === undefined
      ? await ask('', given)
      : await ask('/raw', { ...given, encoding: 'base64', message: await readMail(file) })
  if (file === undefined && !flags.wait) {
    console.log(json ? JSON.stringify({ success: true, data: test }) : invitationOf(test))
    return 0
  }
  if (file === undefined && !json) console.log(`${invitationOf(test)}\n\n  Waiting for the mail …`)
  const ended = await waitForMail(test, ask)
  const [mail] = ended.mails
  if (json) console.log(JSON.stringify({ success: true, data: ended }))
  else console.log(mail ? resultText(mail, flags.all) : 'No mail came while the test was open.')
  return mail && mail.state === 'done' && !mail.findings.some(isProblem) ? 0 : 1
}

async function readMail(file: string): Promise<string> {
  if (!existsSync(file)) throw new UsageError(`File not found: ${file}.`)
  return (await readFile(file)).toString('base64')
}

async function waitForMail(
  test: MailTest,
  ask: (path: string) => Promise<MailTest>,
): Promise<MailTest> {
  let latest = test
  for (;;) {
    const [mail] = latest.mails
    if (mail ? mail.state !== 'analyzing' : !latest.isOpen) return latest
    await sleep(POLL_MS)
    latest = await ask(`/${test.id}`)
  }
}

const isProblem = ({ state, severity }: MailFinding) => state === 'failed' && severity !== 'note'

function invitationOf({ address, code, mailboxes, expiresAt }: MailTest): string {
  const ways = [
    ...(address === null ? [] : [`Send a mail to ${paint('bold', address)}`]),
    ...mailboxes.map(
      (mailbox) =>
        `${address === null ? 'Send a mail' : 'or'} to ${sanitizeForTerminal(mailbox)} with ${paint('bold', code)} in its subject`,
    ),
  ]
  const none = 'This service receives no mail. Test a file with --file.'
  return ['', ...(ways.length > 0 ? ways : [none]), `until ${expiresAt}.`]
    .map((line) => `  ${line}`)
    .join('\n')
}

const MARKS = { blocks: '✗', hurts: '!', note: 'i' } as const
const COLORS: Record<MailFinding['severity'], Parameters<typeof paint>[0]> = {
  blocks: ['bold', 'red'],
  hurts: 'yellow',
  note: 'cyan',
}

function resultText(mail: TestMailResult, showsAll: boolean): string {
  const failures = mail.findings.filter(({ state }) => state === 'failed')
  const others = mail.findings.filter(({ state }) => state !== 'failed')
  const notChecked = others.filter(({ state }) => state === 'not-checked')
  return [
    '',
    `  ${paint('bold', sanitizeForTerminal(mail.subject ?? 'Without a subject'))}`,
    `  ${mail.verdict}`,
    ...(mail.firstStep === null ? [] : [`  ${sanitizeForTerminal(mail.firstStep)}`]),
    ...failures.flatMap(({ severity, title, evidence, fix }) => [
      '',
      `  ${paint(COLORS[severity], `${MARKS[severity]} ${title}`)}`,
      `    ${sanitizeForTerminal(evidence)}`,
      ...(fix === null ? [] : [`    → ${sanitizeForTerminal(fix)}`]),
    ]),
    ...(showsAll
      ? ['', ...others.map(({ state, title, evidence }) => passedRow(state, title, evidence))]
      : []),
    '',
    ...mail.receivers.map(
      ({ title, passedCount, requirements }) =>
        `  ${title}: ${passedCount} of ${requirements.length} requirements`,
    ),
    ...mail.engines.map(({ engine, state, score, threshold }) =>
      state === 'checked'
        ? `  ${engine}: ${score} of ${threshold} points`
        : `  ${engine}: not checked`,
    ),
    '',
    ...mail.background.map(({ title, sentence }) => `  ${title}: ${sanitizeForTerminal(sentence)}`),
    ...(notChecked.length > 0 ? [`  ${notChecked.length} checks could not be made.`] : []),
    '  This tests the message and its set-up. It cannot predict the folder.',
  ].join('\n')
}

function passedRow(state: string, title: string, evidence: string): string {
  const mark = state === 'passed' ? paint('green', '✓') : paint('dim', '?')
  return `  ${mark} ${title}: ${sanitizeForTerminal(evidence)}`
}
