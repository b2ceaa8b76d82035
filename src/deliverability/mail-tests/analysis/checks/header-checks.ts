import { parseMailDate } from '../../../../protocols/mail/mail-date.ts'
import { unfold } from '../../../../protocols/mail/message.ts'
import { parseMailboxes } from '../../../../protocols/mail/mailboxes.ts'
import { decodeWords, invalidWords } from '../../../../protocols/mail/mime-header.ts'
import { HOUR_MS } from '../../../../time.ts'
import {
  failed,
  listed,
  notChecked,
  passed,
  quoted,
  type MailCheck,
  type Outcome,
} from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'

const group = 'header' as const

function checkSingleFrom({ values, authors }: MailFacts): Outcome {
  const fields = values('from').length
  if (fields === 0) return failed('There is no From field.', 'Add a From field with one address.')
  if (fields > 1)
    return failed(
      `There are ${fields} From fields.`,
      'Send one From field; receivers reject mail with several.',
    )
  if (authors.length > 1)
    return failed(
      `From has ${authors.length} addresses: ${listed(authors.map(({ address }) => address))}.`,
      'Write one address into From.',
    )
  return passed(`From is ${authors[0]?.address ?? 'one field'}.`)
}

function checkFromSyntax({ values, fromDomain }: MailFacts): Outcome {
  const [value] = values('from')
  if (value === undefined) return notChecked('There is no From field.')
  if (values('from').length > 1) return notChecked('There are several From fields.')
  if (fromDomain !== null) return passed(`The domain in From is ${fromDomain}.`)
  return failed(
    `From is ${quoted(decodeWords(value))}, in which no address can be found.`,
    'Write From as “Name <name@example.com>”.',
  )
}

function checkDate({ values, mail: { receivedAt } }: MailFacts): Outcome {
  const [value] = values('date')
  if (value === undefined)
    return failed('There is no Date field.', 'Let the program that writes the mail add a Date.')
  const date = parseMailDate(value)
  if (date === null)
    return failed(
      `Date is ${quoted(value)}, which is no valid date.`,
      'Write it as “Mon, 30 Nov 2026 09:00:00 +0000”.',
    )
  if (receivedAt === null) return passed(`Date is ${date.toISOString()}.`)
  const hours = (date.getTime() - receivedAt.getTime()) / HOUR_MS
  if (Math.abs(hours) <= 1) return passed(`Date is ${date.toISOString()}.`)
  const distance = `${Math.abs(Math.round(hours)).toLocaleString('en')} hours ${hours > 0 ? 'in the future' : 'before the mail came'}`
  return failed(
    `Date is ${date.toISOString()}, ${distance}.`,
    'Set the clock and the time zone of the sending machine (timedatectl), and look for mail that waited in a queue.',
  )
}

function checkMessageId({ values }: MailFacts): Outcome {
  const [value] = values('message-id')
  if (value === undefined)
    return failed(
      'There is no Message-ID.',
      'Let the mail server add one (Postfix: always_add_missing_headers = yes).',
    )
  if (messageIdHost(value) === null)
    return failed(
      `Message-ID is ${quoted(value)}.`,
      'Write it as <unique@your-domain>, without spaces.',
    )
  return passed(`Message-ID is ${value.trim().slice(0, 200)}.`)
}

/** What stands behind the @ of a Message-ID; null for one that is not valid (RFC 5322, 3.6.4). */
function messageIdHost(value: string): string | null {
  const id = value.trim().replace(/^<"(?:[^"\\]|\\.)*"@/, '<x@')
  return /^<[^\s<>@]+@([^\s<>@]+)>$/.exec(id)?.[1] ?? null
}

function checkMessageIdHost({ values }: MailFacts): Outcome {
  const [value] = values('message-id')
  const host = value === undefined ? null : messageIdHost(value)
  if (host === null) return notChecked('There is no valid Message-ID.')
  const isLiteral = host.startsWith('[')
  if (isLiteral || (host.includes('.') && !/^localhost\b|\.(?:local|localdomain)$/i.test(host)))
    return passed(`The Message-ID ends with ${host.slice(0, 200)}.`)
  return failed(
    `The Message-ID ends with ${quoted(host)}, a name that exists only on the sending machine.`,
    'Set the host name of the program that sends to a full name of your domain; some filters count it.',
  )
}

const SINGLE = [
  'sender',
  'reply-to',
  'to',
  'cc',
  'message-id',
  'in-reply-to',
  'references',
  'subject',
  'date',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]

function checkDuplicates({ values }: MailFacts): Outcome {
  const repeated = SINGLE.filter((name) => values(name).length > 1)
  if (repeated.length === 0) return passed('No field that must be single repeats.')
  return failed(
    `These fields repeat: ${repeated.map((name) => `${name} (${values(name).length} times)`).join(', ')}.`,
    'Write each of them once. A program and a mail server may both add them.',
  )
}

function checkSyntax({ message: { fields } }: MailFacts): Outcome {
  const bad = fields.filter(({ name, raw }) => raw !== '' && !/^[!-9;-~]+$/.test(name))
  if (bad.length === 0) return passed(`${fields.length} header fields were read.`)
  return failed(
    `${bad.length} lines of the header are no fields, such as ${quoted(bad[0]!.raw)}.`,
    'Remove these lines, or fold them: a continued line begins with a space.',
  )
}

const MAX_LINE = 998

function checkLineLength({ message: { fields } }: MailFacts): Outcome {
  const long = fields.filter(({ raw }) => raw.split('\r\n').some((line) => line.length > MAX_LINE))
  if (long.length === 0) return passed('No line of the header is longer than 998 characters.')
  return failed(
    `${listed(long.map(({ name }) => name || 'a line'))} has a line of more than 998 characters.`,
    'Fold long fields, such as To and References.',
  )
}

function checkEightBit({ message: { fields }, mail: { connection } }: MailFacts): Outcome {
  // oxlint-disable-next-line no-control-regex
  const raw = fields.filter((field) => /[^\0-\x7f]/.test(field.raw))
  if (raw.length === 0) return passed('The header is ASCII.')
  if (connection?.parameters.some((one) => /^SMTPUTF8\b/i.test(one)))
    return passed('The header has UTF-8, and the client announced it (SMTPUTF8).')
  return failed(
    `${listed([...new Set(raw.map(({ name }) => name || 'a line'))])} has characters beyond ASCII that are not encoded.`,
    'Encode them as encoded words, such as =?utf-8?Q?Caf=C3=A9?= (RFC 2047).',
  )
}

function checkEncodedWords({ message: { fields } }: MailFacts): Outcome {
  const shown = fields.filter(({ name }) =>
    ['from', 'to', 'cc', 'subject', 'reply-to', 'sender'].includes(name),
  )
  const bad = shown.flatMap(({ raw }) => invalidWords(unfold(raw)))
  const needless = shown.filter(({ raw }) => isEncodedNeedlessly(unfold(raw)))
  if (bad.length === 0 && needless.length > 0)
    return failed(
      `${listed(needless.map(({ name }) => name))} ${needless.length === 1 ? 'is' : 'are'} encoded without need: ASCII would do.`,
      'Encode only what has other characters: rspamd and SpamAssassin count the rest.',
      'note',
    )
  if (bad.length === 0) return passed('All encoded words can be decoded.')
  return failed(
    `${quoted(bad[0]!)} cannot be decoded.`,
    'Encode the text again: use UTF-8, and no spaces within a word.',
  )
}

/** Whether encoded words hold ASCII alone. “=?” needs them, as it would begin another one. */
function isEncodedNeedlessly(text: string): boolean {
  const decoded = decodeWords(text)
  return decoded !== text && /^[ -~]*$/.test(decoded) && !decoded.includes('=?')
}

function checkSubject({ values }: MailFacts): Outcome {
  const [value] = values('subject')
  if (value === undefined) return failed('There is no Subject.', 'Add a subject.')
  const subject = decodeWords(value.trim())
  if (subject === '') return failed('The subject is empty.', 'Write a subject.')
  return passed(`The subject is ${quoted(subject)}.`)
}

function checkRecipients({ values, mail: { rcptTo } }: MailFacts): Outcome {
  const mailboxes = [...values('to'), ...values('cc')].flatMap(parseMailboxes)
  if (values('to').length === 0 && values('cc').length === 0)
    return failed('There is neither To nor Cc.', 'Write the recipient into To.')
  const wrong = mailboxes.filter(({ domain, address }) => domain === null && address !== '')
  if (wrong.length > 0)
    return failed(`${quoted(wrong[0]!.address)} in To or Cc is no address.`, 'Correct the address.')
  const isNamed =
    rcptTo === null ||
    mailboxes.some(({ address }) => address.toLowerCase() === rcptTo.toLowerCase())
  return isNamed
    ? passed('The mail names its recipient.')
    : failed(
        'The recipient stands in neither To nor Cc.',
        'Send each recipient a mail of its own, with its address in To.',
        'note',
      )
}

function checkDisplayName({ authors }: MailFacts): Outcome {
  const [author] = authors
  if (!author) return notChecked('There is no address in From.')
  const shown = /[\w.+-]+@([\w-]+(?:\.[\w-]+)+)/.exec(author.name)
  if (!shown || shown[0].toLowerCase() === author.address.toLowerCase())
    return passed(
      author.name === '' ? 'From has no name.' : `The name in From is ${quoted(author.name)}.`,
    )
  return failed(
    `The name in From shows ${quoted(shown[0])}, but the address is ${author.address}.`,
    'Use the name of a person or company as the name in From.',
  )
}

const FREE_PROVIDERS = new Set(
  'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com yahoo.de yahoo.co.uk ymail.com aol.com gmx.de gmx.net gmx.com web.de icloud.com me.com mac.com mail.ru yandex.ru proton.me protonmail.com'.split(
    ' ',
  ),
)

async function checkFreeProvider(facts: MailFacts): Promise<Outcome> {
  const { fromDomain } = facts
  if (fromDomain === null) return notChecked('From has no single domain.')
  if (!FREE_PROVIDERS.has(fromDomain))
    return passed(`${fromDomain} is no provider of free mailboxes.`)
  const verdict = await facts.dmarc()
  if (!verdict || verdict.result === 'temperror') return notChecked('DMARC could not be evaluated.')
  if (verdict.result === 'pass') return passed(`The mail came from ${fromDomain}.`)
  return failed(
    `From uses ${fromDomain}, but the mail did not come from there.`,
    'Send from a domain of your own; write the free address into Reply-To.',
  )
}

/** What mail programs write before the subject of an answer or a forwarded mail, by language. */
const ANSWER =
  /^(?:\[[^\]]*\]\s*)?(?:re|aw|antw|sv|vs|odp|res|rif|ynt|fwd?|wg|tr|vb|回复|答复|转发)\s*[:：]/i

function checkReplyThread({ values }: MailFacts): Outcome {
  const subject = decodeWords(values('subject')[0]?.trim() ?? '')
  if (!ANSWER.test(subject)) return passed('The subject does not look like an answer.')
  if (values('in-reply-to').length > 0 || values('references').length > 0)
    return passed('The mail names the message that it answers.')
  return failed(
    `The subject ${quoted(subject)} looks like an answer, but the mail names no message that it answers.`,
    'Remove “Re:” from the subject of new mail.',
  )
}

const LEAKS = [
  'x-originating-ip',
  'x-php-originating-script',
  'x-php-script',
  'x-source-args',
  'x-authenticated-sender',
  'x-get-message-sender-via',
]

function checkLeaks({ values }: MailFacts): Outcome {
  const found = LEAKS.filter((name) => values(name).length > 0)
  if (found.length === 0) return passed('No field names the sending account or script.')
  return failed(
    `${listed(found)} shows where the mail was written.`,
    'Turn these fields off (PHP: mail.add_x_header = Off), or remove them in the mail server.',
  )
}

function checkLoops({ values }: MailFacts): Outcome {
  const hops = values('received').length
  if (hops <= 25)
    return passed(`The mail passed ${hops} ${hops === 1 ? 'server' : 'servers'} before this one.`)
  return failed(
    `The mail has ${hops} Received fields.`,
    'Find the loop: some servers reject mail after 25 hops.',
  )
}

export const HEADER_CHECKS: MailCheck[] = [
  {
    id: 'from-single',
    group,
    severity: 'blocks',
    title: 'One sender',
    rule: 'There is one From field with one address.',
    source: 'RFC 5322, 3.6; Google Email sender guidelines',
    run: checkSingleFrom,
  },
  {
    id: 'from-syntax',
    group,
    severity: 'blocks',
    title: 'Address in From',
    rule: 'From contains a valid address.',
    source: 'RFC 5322, 3.4',
    run: checkFromSyntax,
  },
  {
    id: 'from-provider',
    group,
    severity: 'blocks',
    title: 'Free mailbox in From',
    rule: 'Mail from an address of a provider of free mailboxes comes from that provider.',
    source: 'Google Email sender guidelines',
    run: checkFreeProvider,
  },
  {
    id: 'from-name',
    group,
    severity: 'hurts',
    title: 'Name in From',
    rule: 'The name in From shows no other address.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkDisplayName,
  },
  {
    id: 'date',
    group,
    severity: 'hurts',
    title: 'Date',
    rule: 'Date is valid and less than an hour off.',
    source: 'RFC 5322, 3.6.1',
    run: checkDate,
  },
  {
    id: 'message-id',
    group,
    severity: 'hurts',
    title: 'Message-ID',
    rule: 'The mail has a valid Message-ID.',
    source: 'RFC 5322, 3.6.4; Google Email sender guidelines',
    run: checkMessageId,
  },
  {
    id: 'message-id-host',
    group,
    severity: 'note',
    title: 'Host of the Message-ID',
    rule: 'The Message-ID ends with a full name of the sender.',
    source: 'RFC 5322, 3.6.4; rspamd: MID_RHS_NOT_FQDN',
    run: checkMessageIdHost,
  },
  {
    id: 'duplicate-fields',
    group,
    severity: 'hurts',
    title: 'Single fields',
    rule: 'Fields that must be single do not repeat.',
    source: 'RFC 5322, 3.6; Google Email sender guidelines',
    run: checkDuplicates,
  },
  {
    id: 'header-syntax',
    group,
    severity: 'hurts',
    title: 'Header syntax',
    rule: 'Each line of the header is a field or continues one.',
    source: 'RFC 5322, 2.2',
    run: checkSyntax,
  },
  {
    id: 'header-line-length',
    group,
    severity: 'hurts',
    title: 'Length of header lines',
    rule: 'No line is longer than 998 characters.',
    source: 'RFC 5322, 2.1.1',
    run: checkLineLength,
  },
  {
    id: 'header-8bit',
    group,
    severity: 'hurts',
    title: 'Characters in the header',
    rule: 'Characters beyond ASCII are encoded.',
    source: 'RFC 5322, 2.2; RFC 6532',
    run: checkEightBit,
  },
  {
    id: 'encoded-words',
    group,
    severity: 'hurts',
    title: 'Encoded words',
    rule: 'Encoded words in names and subject can be decoded.',
    source: 'RFC 2047, 2',
    run: checkEncodedWords,
  },
  {
    id: 'subject',
    group,
    severity: 'hurts',
    title: 'Subject',
    rule: 'The mail has a subject.',
    source: 'RFC 5322, 3.6.5',
    run: checkSubject,
  },
  {
    id: 'recipient',
    group,
    severity: 'hurts',
    title: 'Recipient',
    rule: 'To or Cc names the recipient.',
    source: 'RFC 5322, 3.6.3',
    run: checkRecipients,
  },
  {
    id: 'reply-thread',
    group,
    severity: 'note',
    title: 'Answers',
    rule: 'A subject with “Re:” belongs to an answer.',
    source: 'RFC 5322, 3.6.5',
    run: checkReplyThread,
  },
  {
    id: 'header-leaks',
    group,
    severity: 'note',
    title: 'Traces of the program',
    rule: 'No field names the sending account or script.',
    source: 'RFC 5321, 7.6',
    run: checkLeaks,
  },
  {
    id: 'received-count',
    group,
    severity: 'hurts',
    title: 'Number of hops',
    rule: 'The mail passed fewer than 25 servers.',
    source: 'RFC 5321, 6.3',
    run: checkLoops,
  },
]
