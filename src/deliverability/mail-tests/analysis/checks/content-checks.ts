import { getDomain } from 'tldts'
import { decodeWords } from '../../../../protocols/mail/mime-header.ts'
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

const group = 'content' as const

/** Letters of hidden text; a preheader, which mail programs show beside the subject, has fewer. */
const MAX_PREHEADER_LETTERS = 200

function checkHiddenText({ html }: MailFacts): Outcome {
  if (!html) return passed('The mail has no HTML.')
  const letters = html.hiddenText.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0) return passed('No text is hidden.')
  if (letters <= MAX_PREHEADER_LETTERS) return passed('A short text is hidden, as preheaders are.')
  return failed(
    `Styles hide ${letters.toLocaleString('en')} letters: ${quoted(html.hiddenText)}.`,
    'Remove hidden text. Keep a preheader below 200 letters.',
  )
}

const MIN_TEXT_WITH_IMAGES = 100
const MIN_ANSWER = 20

function checkImageShare({ html }: MailFacts): Outcome {
  if (!html || html.images.length === 0) return passed('The mail does not rely on images.')
  const count = `${html.images.length} ${html.images.length === 1 ? 'image' : 'images'}`
  if (html.text.length >= MIN_TEXT_WITH_IMAGES)
    return passed(`${count} and ${html.text.length.toLocaleString('en')} characters of text.`)
  // A short answer with the logo of a signature is no mail of images.
  const isAnswer = html.images.length <= 2 && html.text.length >= MIN_ANSWER
  return failed(
    `${count}, and only ${html.text.length} characters of text.`,
    'Write the message as text; use images beside it.',
    isAnswer ? 'note' : undefined,
  )
}

function checkActive({ html }: MailFacts): Outcome {
  const found = html?.activeElements ?? []
  if (found.length === 0) return passed('The HTML has no active elements.')
  return failed(
    `The HTML has ${listed(found)}.`,
    'Remove scripts, forms and frames: mail programs drop them, and filters count them.',
  )
}

/** Services that hide where a link leads. */
const SHORTENERS = new Set(
  'bit.ly tinyurl.com t.co goo.gl ow.ly is.gd v.gd buff.ly rebrand.ly cutt.ly shorturl.at tiny.cc rb.gy t.ly bl.ink short.io s.id lnkd.in soo.gd clck.ru u.to qr.ae adf.ly'.split(
    ' ',
  ),
)

const hostsOf = (links: MailFacts['links']) => [...new Set(links.map(({ host }) => host))]

function checkShorteners({ links }: MailFacts): Outcome {
  const found = hostsOf(
    links.filter(({ domain, host }) => SHORTENERS.has(domain ?? '') || SHORTENERS.has(host)),
  )
  if (found.length === 0) return passed('No link is shortened.')
  return failed(
    `Links lead through ${listed(found)}.`,
    'Link to the page itself. Spam uses public shorteners, so they are often listed.',
  )
}

function checkAddressLinks({ links }: MailFacts): Outcome {
  const found = hostsOf(links.filter(({ isAddress }) => isAddress))
  if (found.length === 0) return passed('No link leads to a bare address.')
  return failed(`Links lead to ${listed(found)}.`, 'Use names in links, not IP addresses.')
}

function checkMismatch({ links }: MailFacts): Outcome {
  const bad = links.filter(({ text, domain, host }) => {
    const shown = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]\S*)?$/i.exec(text.trim())?.[1]
    if (shown === undefined || host === '') return false
    const shownDomain = getDomain(shown)
    return shownDomain !== null && shownDomain !== domain && getDomain(host) !== shownDomain
  })
  if (bad.length === 0) return passed('Links lead where their text says.')
  const [link] = bad
  return failed(
    `A link shows ${quoted(link!.text)}, but leads to ${link!.host}.`,
    'Let the text of a link be words, or link to the domain that it shows. Set up click tracking under your own domain.',
  )
}

function checkPlainHttp({ links }: MailFacts): Outcome {
  const found = hostsOf(links.filter(({ scheme }) => scheme === 'http'))
  if (found.length === 0) return passed('All links use HTTPS.')
  return failed(`Links to ${listed(found)} use http.`, 'Use https in links.')
}

const KNOWN_SCHEMES = new Set([
  'http',
  'https',
  'mailto',
  'tel',
  'sms',
  'cid',
  'mid',
  'xmpp',
  'matrix',
  'webcal',
  'geo',
])

function checkSchemes({ links }: MailFacts): Outcome {
  const found = [...new Set(links.map(({ scheme }) => scheme))].filter(
    (scheme) => !KNOWN_SCHEMES.has(scheme),
  )
  if (found.length === 0) return passed('The links use usual schemes.')
  return failed(`Links use ${listed(found.map((scheme) => `${scheme}:`))}.`, 'Use https links.')
}

function checkPunycode({ links }: MailFacts): Outcome {
  const found = hostsOf(
    links.filter(
      ({ url, host }) => /(?:^|\.)xn--/.test(host) && /@/.test(url.split(/[/?#]/)[2] ?? ''),
    ),
  )
  const withUser = hostsOf(
    links.filter(({ url, scheme }) => /^https?$/.test(scheme) && /^[^/]*\/\/[^/?#]*@/.test(url)),
  )
  const bad = [...new Set([...found, ...withUser])]
  if (bad.length === 0) return passed('No link hides its host behind a user name.')
  return failed(
    `A link to ${listed(bad)} has a user name in front of its host.`,
    'Remove what stands before @ in links.',
  )
}

function checkShouting({ values }: MailFacts): Outcome {
  const subject = decodeWords(values('subject')[0]?.trim() ?? '')
  const letters = subject.match(/\p{L}/gu) ?? []
  const capitals = subject.match(/\p{Lu}/gu) ?? []
  const isLoud = letters.length >= 10 && capitals.length / letters.length > 0.8
  if (!isLoud && !/[!?$€]{3,}/.test(subject)) return passed('The subject is written as a sentence.')
  return failed(
    `The subject is ${quoted(subject)}.`,
    'Write the subject as a sentence, without capitals and repeated signs.',
  )
}

function checkImageText({ html, links }: MailFacts): Outcome {
  if (!html) return notChecked('The mail has no HTML.')
  const remote = html.images.filter((source) => /^https?:/i.test(source))
  const plain = remote.filter((source) => /^http:/i.test(source))
  if (plain.length > 0)
    return failed(`${plain.length} images are loaded over http.`, 'Load images over https.')
  return passed(`${remote.length} images are loaded from elsewhere; ${links.length} links.`)
}

export const CONTENT_CHECKS: MailCheck[] = [
  {
    id: 'hidden-text',
    group,
    severity: 'hurts',
    title: 'Hidden text',
    rule: 'No text is hidden from the reader.',
    source: 'Google Email sender guidelines',
    run: checkHiddenText,
  },
  {
    id: 'image-share',
    group,
    severity: 'hurts',
    title: 'Text and images',
    rule: 'The message is text, with images beside it.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkImageShare,
  },
  {
    id: 'image-links',
    group,
    severity: 'note',
    title: 'Images',
    rule: 'Images are loaded over HTTPS.',
    source: 'RFC 9110, 4.2.2',
    run: checkImageText,
  },
  {
    id: 'active-content',
    group,
    severity: 'hurts',
    title: 'Active elements',
    rule: 'The HTML has no scripts, forms or frames.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkActive,
  },
  {
    id: 'link-shorteners',
    group,
    severity: 'hurts',
    title: 'Shortened links',
    rule: 'Links lead to their page without a shortener.',
    source: 'Spamhaus DBL: abused redirectors',
    run: checkShorteners,
  },
  {
    id: 'link-addresses',
    group,
    severity: 'hurts',
    title: 'Links to addresses',
    rule: 'Links have names as hosts.',
    source: 'RFC 3986, 3.2.2; SURBL',
    run: checkAddressLinks,
  },
  {
    id: 'link-text',
    group,
    severity: 'hurts',
    title: 'Text of links',
    rule: 'A link that shows a domain leads there.',
    source: 'Google Email sender guidelines',
    run: checkMismatch,
  },
  {
    id: 'link-user',
    group,
    severity: 'hurts',
    title: 'User names in links',
    rule: 'Links have nothing in front of their host.',
    source: 'RFC 9110, 4.2.4',
    run: checkPunycode,
  },
  {
    id: 'link-schemes',
    group,
    severity: 'hurts',
    title: 'Schemes of links',
    rule: 'Links use https, mailto or another usual scheme.',
    source: 'RFC 3986, 3.1',
    run: checkSchemes,
  },
  {
    id: 'link-https',
    group,
    severity: 'note',
    title: 'Encrypted links',
    rule: 'Links use HTTPS.',
    source: 'RFC 9110, 4.2.2',
    run: checkPlainHttp,
  },
  {
    id: 'subject-style',
    group,
    severity: 'note',
    title: 'Style of the subject',
    rule: 'The subject is a sentence, not a shout.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkShouting,
  },
]
