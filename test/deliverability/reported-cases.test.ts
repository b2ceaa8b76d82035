import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/deliverability/mail-tests/analysis/finding.ts'
import { evaluateReceivers } from '../../src/deliverability/mail-tests/analysis/receivers.ts'
import { publicKeyOf } from '../protocols/mail/signed-mail.ts'
import { analyze, baseSpec, IP, newsletterSpec, SIGNATURE, type MailSpec } from './corpus/world.ts'

/** What others reported, of mail that was tested or filtered. */
type Case = {
  name: string
  /** Repository and number of the report. */
  source: string
  /** What an RFC or a receiver says about it. */
  rule: string
  mail: MailSpec
  /** Checks that must pass. */
  passes?: string[]
  /** Checks that must fail, each with a part of its evidence. */
  fails?: Record<string, RegExp>
  /** Whether other failures than `fails` may block or hurt. */
  isFaulty?: boolean
  /** Requirements of receivers, by title of the receiver and of the requirement. */
  receivers?: Record<string, Record<string, Finding['state']>>
}

const order = baseSpec()
const letter = newsletterSpec()

/** A spec with other header fields; one without a value is left out. */
function withFields(spec: MailSpec, fields: Record<string, string | null>): MailSpec {
  const names = Object.keys(fields).map((name) => `${name.toLowerCase()}:`)
  const kept = spec.fields.filter(
    (field) => !names.some((name) => field.toLowerCase().startsWith(name)),
  )
  const added = Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  )
  return { ...spec, fields: [...kept, ...added] }
}

const withHtml = (spec: MailSpec, markup: string): MailSpec => ({
  ...spec,
  html: (spec.html ?? '').replace('</body>', `${markup}</body>`),
})
const signedWith = (spec: MailSpec, tags: Record<string, string>): MailSpec => ({
  ...spec,
  signatures: [{ tags: { ...SIGNATURE.tags, ...tags } }],
})
const withRecords = (spec: MailSpec, records: Record<string, string[]>): MailSpec => ({
  ...spec,
  records: { ...spec.records, ...records },
})

const IPV6 = '2001:db8:4860:4000::25'
const POINTER = '5.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.4.0.6.8.4.8.b.d.0.1.0.0.2.ip6.arpa PTR'
const KEY = publicKeyOf('rsa')

const CASES: Case[] = [
  // List-Unsubscribe
  {
    name: 'a signature with List-Unsubscribe, but not List-Unsubscribe-Post',
    source: 'postalserver/postal#2788',
    rule: 'RFC 8058, 4: both fields are in h= of a valid signature',
    mail: signedWith(letter, {
      h: 'from:from:to:subject:date:message-id:mime-version:content-type:list-unsubscribe',
    }),
    passes: ['one-click', 'unsubscribe-syntax'],
    fails: { 'one-click-signed': /cover list-unsubscribe-post, so/ },
    receivers: {
      'Gmail, 5,000 a day or more': { 'One-click unsubscribing (marketing mail)': 'failed' },
    },
  },
  {
    name: 'one-click fields that two signatures cover, each one of them',
    source: 'sendgrid/sendgrid-nodejs#893',
    rule: 'RFC 8058, 4: one signature covers both',
    mail: {
      ...letter,
      signatures: ['list-unsubscribe', 'list-unsubscribe-post'].map((name) => ({
        tags: { ...SIGNATURE.tags, h: `from:from:to:subject:date:message-id:${name}` },
      })),
    },
    fails: { 'one-click-signed': /cover list-unsubscribe(?:-post)?, so/ },
  },
  {
    name: 'a URL that is folded in its middle',
    source: 'wttw/aboutmyemail#56',
    rule: 'RFC 2369, 2: white space within the brackets is ignored',
    mail: withFields(letter, {
      'List-Unsubscribe': '<https://www.sender.test/u/\r\n abc>, <mailto:u@sender.test>',
    }),
    passes: ['unsubscribe-syntax', 'one-click', 'one-click-signed'],
  },
  {
    name: 'a List-Unsubscribe in encoded words',
    source: 'wttw/aboutmyemail#46',
    rule: 'RFC 2047, 5: no encoded word within a URL',
    mail: withFields(letter, {
      'List-Unsubscribe':
        '=?us-ascii?Q?=3Chttps=3A=2F=2Fwww=2Esender=2Etest=2Fu=2F?=\r\n =?us-ascii?Q?abc=3E?=',
    }),
    fails: { 'unsubscribe-syntax': /=\?us-ascii/, 'one-click': /no https URL/ },
  },
  {
    name: 'an encoded word within the brackets',
    source: 'wttw/aboutmyemail#46',
    rule: 'RFC 2047, 5: no encoded word within a URL',
    mail: withFields(letter, {
      'List-Unsubscribe': '<https://www.sender.test/=?us-ascii?Q?u=2Fabc?=>',
    }),
    fails: { 'unsubscribe-syntax': /=\?us-ascii/, 'one-click': /no https URL/ },
  },
  {
    name: 'a second URL without its closing bracket',
    source: 'PHPMailer/PHPMailer#1058',
    rule: 'RFC 2369, 2: an item that is no URL in brackets is ignored, and what follows',
    mail: withFields(letter, {
      'List-Unsubscribe': '<mailto:u@sender.test>, <https://www.sender.test/u/abc',
    }),
    fails: { 'unsubscribe-syntax': /ignore .*u\/abc/, 'one-click': /no https URL/ },
  },
  {
    name: 'a URL after an address without brackets',
    source: 'PHPMailer/PHPMailer#1058',
    rule: 'RFC 2369, 2: an item that is no URL in brackets is ignored, and what follows',
    mail: withFields(letter, {
      'List-Unsubscribe': 'mailto:u@sender.test, <https://www.sender.test/u/abc>',
    }),
    fails: { 'unsubscribe-syntax': /mailto:u@sender\.test, </, 'one-click': /no https URL/ },
  },
  {
    name: 'correct fields for which Gmail shows no button',
    source: 'knadh/listmonk#1206',
    rule: 'Google shows the button for senders that it knows well; the mail has no fault',
    mail: withFields(letter, {
      'List-Unsubscribe': '<https://www.sender.test/subscription/42999a0f/48e09d05>',
    }),
    passes: ['unsubscribe-syntax', 'one-click', 'one-click-signed'],
  },
  {
    name: 'mailto and https with an address in the query',
    source: 'PHPMailer/PHPMailer#2989',
    rule: 'RFC 8058, 3.1: one https URI, other URIs may stand beside it',
    mail: withFields(letter, {
      'List-Unsubscribe':
        '<mailto:u@sender.test>,<https://www.sender.test/unsubscribe.php?email=a@b.test>',
    }),
    passes: ['unsubscribe-syntax', 'one-click', 'one-click-signed'],
  },

  // The format that Gmail rejects
  {
    name: 'two Reply-To fields of a mailing list',
    source: 'Chaste/Chaste#268',
    rule: 'RFC 5322, 3.6: one Reply-To; Gmail rejects it (550 5.7.1)',
    mail: {
      ...order,
      fields: [...order.fields, 'Reply-To: list@sender.test', 'Reply-To: anna@sender.test'],
    },
    fails: { 'duplicate-fields': /reply-to \(2 times\)/ },
    receivers: { 'Gmail, below 5,000 a day': { 'Single header fields': 'failed' } },
  },
  {
    name: 'a To field for each recipient',
    source: 'domodwyer/mailyak#70',
    rule: 'RFC 5322, 3.6.3: one To with all addresses',
    mail: { ...order, fields: [...order.fields, 'To: second@tests.test'] },
    fails: { 'duplicate-fields': /to \(2 times\)/ },
  },
  {
    name: 'two addresses in From',
    source: 'sisimai/p5-sisimai#502',
    rule: 'Gmail rejects several addresses in From',
    mail: withFields(order, { From: 'Anna <anna@sender.test>, Ben <ben@sender.test>' }),
    fails: { 'from-single': /2 addresses/ },
  },
  {
    name: 'no From',
    source: 'Mailtrain-org/mailtrain#299',
    rule: 'RFC 5322, 3.6: From is required; Gmail rejects mail without it',
    mail: withFields(order, { From: null }),
    fails: { 'from-single': /no From/ },
    isFaulty: true,
  },
  {
    name: 'HTML alone, and no Message-ID',
    source: 'gogs/gogs#5147',
    rule: 'rspamd: MISSING_MID, MIME_HTML_ONLY',
    mail: { ...withFields(order, { 'Message-ID': null }), text: null },
    fails: { 'message-id': /no Message-ID/, 'text-part': /HTML only/ },
  },
  {
    name: 'a newsletter of PHPMailer with Precedence: bulk',
    source: 'rspamd/rspamd#575',
    rule: 'The Message-ID is valid (RFC 5322, 3.6.4), and bulk is a usual word',
    mail: {
      ...withFields(letter, {
        'Message-ID': '<e77e59d1aa5627d3dd88681028fb5f8c@www.sender.test>',
        'Reply-To': 'Info <info@sender.test>',
        'X-Mailer': 'PHPMailer 5.2.14 (https://github.com/PHPMailer/PHPMailer)',
        Precedence: 'bulk',
      }),
      text: null,
    },
    passes: ['message-id', 'message-id-host', 'precedence', 'reply-domain', 'header-leaks'],
    fails: { 'text-part': /HTML only/ },
  },
  {
    name: 'a Message-ID in the last line of the header',
    source: 'rspamd/rspamd#339',
    rule: 'RFC 5322, 3.6: fields may stand in any order',
    mail: {
      ...order,
      raw: {
        fields: [
          'MIME-Version: 1.0',
          'Content-Type: text/plain; charset=utf-8',
          'Message-ID: <20150721083313.29339.64611@sender.test>',
        ],
        body: 'Hello, this message has a Message-ID.\r\n',
      },
      fields: withFields(order, { 'Message-ID': null }).fields,
    },
    passes: ['message-id', 'message-id-host'],
  },
  {
    name: 'the Message-ID of a host name without a dot',
    source: 'mailcow/mailcow-dockerized#1979',
    rule: 'RFC 5322, 3.6.4: valid; a domain is recommended, and filters count it',
    mail: withFields(order, { 'Message-ID': '<39-5bdddf80-3-4abf3d80@195860742>' }),
    passes: ['message-id'],
    fails: { 'message-id-host': /195860742/ },
    receivers: { 'Gmail, below 5,000 a day': { 'Valid Message-ID': 'passed' } },
  },
  {
    name: 'an ASCII subject in encoded words',
    source: 'rspamd/rspamd#6265',
    rule: 'rspamd: SUBJ_EXCESS_QP; Mailchimp does it, and no receiver rejects it',
    mail: withFields(order, { Subject: '=?utf-8?Q?10%=20off=20until=20Friday?=' }),
    fails: { 'encoded-words': /subject is encoded without need/ },
  },
  {
    name: 'a character that is split over two encoded words',
    source: 'neomutt/neomutt#1015',
    rule: 'RFC 2047, 5 (3): each encoded word holds whole characters',
    mail: withFields(order, {
      Subject:
        '=?UTF-8?Q?Kvie=C4=8Diame=20drauge=20pildyti=20ESO=20pasi=C5=BEad=C4?=\r\n =?UTF-8?Q?=97jim=C5=B3=20girliand=C4=85!?=',
    }),
    fails: { 'encoded-words': /cannot be decoded/ },
  },
  {
    name: 'the prefix of an answer in Dutch, without an answer',
    source: 'rspamd/rspamd#5288',
    rule: 'rspamd: FAKE_REPLY, in ten languages',
    mail: withFields(order, { Subject: 'Antw: Uw bestelling' }),
    fails: { 'reply-thread': /Antw: Uw bestelling/ },
  },
  {
    name: 'a Polish answer that names its message',
    source: 'rspamd/rspamd#5288',
    rule: 'RFC 5322, 3.6.4: an answer has In-Reply-To',
    mail: withFields(order, {
      Subject: 'Odp: zamowienie',
      'In-Reply-To': '<1@tests.test>',
    }),
    passes: ['reply-thread'],
  },
  {
    name: 'References without folds',
    source: 'rspamd/rspamd#5323',
    rule: 'RFC 5322, 2.1.1: up to 998 characters; Postfix breaks longer lines after signing',
    mail: withFields(order, { References: '<0123456789@sender.test> '.repeat(50).trim() }),
    fails: { 'header-line-length': /references/ },
  },
  {
    name: 'HTML in one line of 2,000 characters, wrapped after signing',
    source: 'roundcube/roundcubemail#10198',
    rule: 'RFC 5322, 2.1.1; RFC 6376, 5.3: long lines are wrapped, and the body hash fails',
    mail: {
      ...order,
      html: `<p>${'signature '.repeat(200)}</p>`,
      edit: (mail) => mail.replace(/(.{990})(.+signature)/, '$1\r\n $2'),
    },
    fails: { dkim: /the body was changed after signing/ },
    isFaulty: true,
  },

  // SPF, DKIM and DMARC
  {
    name: 'further addresses of the name of the server',
    source: 'happyDomain/happydeliver#4',
    rule: 'RFC 8601, 2.7.3: one address that matches is enough',
    mail: withRecords(
      { ...order, ip: IPV6 },
      {
        [POINTER]: ['mail.sender.test'],
        'mail.sender.test AAAA': ['2001:db8::1', IPV6, '2001:db8::2'],
        'sender.test TXT': ['v=spf1 mx -all'],
      },
    ),
    passes: ['reverse-name', 'helo-address', 'spf'],
  },
  {
    name: 'an IPv6 range within an include',
    source: 'postalsys/mailauth#13',
    rule: 'RFC 7208, 5.6: ip6 with a prefix length',
    mail: withRecords(
      { ...order, ip: IPV6 },
      {
        [POINTER]: ['mail.sender.test'],
        'mail.sender.test AAAA': [IPV6],
        'sender.test TXT': ['v=spf1 redirect=_spf.sender.test'],
        '_spf.sender.test TXT': ['v=spf1 include:_netblocks2.sender.test ~all'],
        '_netblocks2.sender.test TXT': ['v=spf1 ip6:2001:db8:4860:4000::/36 ~all'],
      },
    ),
    passes: ['spf', 'dmarc'],
  },
  {
    name: 'ten mechanisms with lookups, one of them MX with three hosts',
    source: 'wttw/aboutmyemail#45, stalwartlabs/mail-auth#35',
    rule: 'RFC 7208, 4.6.4: the addresses of MX hosts do not count towards the ten',
    mail: withRecords(order, {
      'sender.test TXT': [
        `v=spf1 ${Array.from({ length: 9 }, (_, n) => `include:s${n}.sender.test`).join(' ')} mx -all`,
      ],
      'sender.test MX': ['10 a.sender.test', '20 b.sender.test', '30 mail.sender.test'],
      'a.sender.test A': ['192.0.2.1'],
      'b.sender.test A': ['192.0.2.2'],
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, n) => [`s${n}.sender.test TXT`, ['v=spf1 -all']]),
      ),
    }),
    passes: ['spf', 'dmarc'],
  },
  {
    name: 'results of its own server in the mail, SPF of HELO first',
    source: 'happyDomain/happydeliver#14',
    rule: 'RFC 8601, 5: results of others are not believed; SPF is that of MAIL FROM',
    mail: withFields(order, {
      'Authentication-Results':
        'mx.sender.test; spf=none smtp.helo=mail.sender.test; dkim=fail header.d=sender.test',
    }),
    passes: ['spf', 'spf-helo', 'dkim', 'dmarc'],
  },
  {
    name: 'an envelope domain without SPF beside an aligned signature',
    source: 'postalserver/postal#496',
    rule: 'RFC 7208, 2.4: SPF is that of the envelope sender; DMARC needs one of both',
    mail: withRecords(
      { ...order, mailFrom: 'b@rp.postal.test' },
      { 'rp.postal.test MX': ['10 mail.sender.test'] },
    ),
    passes: ['dkim', 'dmarc', 'dkim-aligned'],
    fails: { spf: /SPF of rp\.postal\.test .* none/ },
    receivers: {
      'Outlook.com, more than 5,000 a day': {
        'SPF passes': 'failed',
        'From aligned with SPF or DKIM': 'passed',
      },
    },
  },
  {
    name: 'SPF fails, DKIM and DMARC pass: Outlook.com refuses it',
    source: 'sisimai/go-sisimai#150',
    rule: 'Microsoft: above 5,000 a day SPF and DKIM both pass (550 5.7.515)',
    mail: withRecords(order, { 'sender.test TXT': ['v=spf1 ip4:192.0.2.1 -all'] }),
    passes: ['dkim', 'dmarc', 'authenticated'],
    fails: { spf: /fail \(/ },
    receivers: {
      'Outlook.com, more than 5,000 a day': { 'SPF passes': 'failed', 'DKIM passes': 'passed' },
      'Gmail, below 5,000 a day': { 'SPF or DKIM': 'passed' },
    },
  },
  {
    name: 'a bounce of a subdomain under strict alignment',
    source: 'mailcow/mailcow-dockerized#4866',
    rule: 'RFC 9989, 4.4: adkim=s and aspf=s need the domain of From itself',
    mail: withRecords(
      {
        ...withFields(order, { From: 'Mail Delivery System <MAILER-DAEMON@mail.sender.test>' }),
        mailFrom: '',
        helo: 'mx1.sender.test',
      },
      {
        'mx1.sender.test A': [IP],
        'mx1.sender.test TXT': ['v=spf1 a -all'],
        '_dmarc.sender.test TXT': ['v=DMARC1; p=reject; adkim=s; aspf=s'],
      },
    ),
    passes: ['spf', 'dkim', 'envelope-domain'],
    fails: {
      dmarc: /nothing proves mail\.sender\.test; its policy is reject/,
      'dkim-aligned': /mail\.sender\.test/,
    },
  },
  {
    name: 'a signature of another subdomain',
    source: 'postalsys/mailauth#74',
    rule: 'RFC 9989, 4.4.1: relaxed alignment needs the same organizational domain',
    mail: withRecords(
      signedWith(withFields(order, { From: 'N <n@reminder3.sender.test>' }), {
        d: 'reminder.sender.test',
      }),
      {
        'reminder3.sender.test MX': ['10 mail.sender.test'],
        's1._domainkey.reminder.sender.test TXT': ['v=DKIM1; p={rsa}'],
      },
    ),
    passes: ['dkim', 'dmarc', 'dkim-aligned'],
  },
  {
    name: 'a mail that was forwarded unchanged',
    source: 'MicrosoftDocs/OfficeDocs-Support#679',
    rule: 'RFC 6376, 1.1: a signature survives forwarding; DMARC passes by it',
    mail: withRecords(
      { ...order, mailFrom: 'srs0=x=y=sender.test=anna@other.test' },
      { 'other.test TXT': [`v=spf1 ip4:${IP} -all`] },
    ),
    passes: ['spf', 'dkim', 'dmarc', 'dkim-aligned', 'arc'],
    fails: { 'spf-aligned': /sender\.test/ },
  },
  {
    name: 'a mailing list that writes itself into From and signs',
    source: 'docker-mailserver/docker-mailserver#1346',
    rule: 'RFC 9989, 7: a list that changes mail uses a From of its own',
    mail: withRecords(
      {
        ...withFields(order, {
          From: 'Anna via List <list@other.test>',
          'List-Id': 'List <list.other.test>',
        }),
        mailFrom: 'list-bounces@other.test',
        signatures: [
          { tags: { ...SIGNATURE.tags, d: 'other.test' } },
          { key: 'other', tags: SIGNATURE.tags },
        ],
      },
      {
        'other.test TXT': [`v=spf1 ip4:${IP} -all`],
        's1._domainkey.other.test TXT': ['v=DKIM1; p={rsa}'],
        '_dmarc.other.test TXT': ['v=DMARC1; p=quarantine'],
      },
    ),
    passes: ['spf', 'dkim', 'dmarc', 'dkim-aligned', 'list-id'],
    fails: { 'dkim-others': /sender\.test/ },
  },
  {
    name: 'a key with a blank within p=',
    source: 'hmailserver/hmailserver#382',
    rule: 'RFC 6376, 3.6.1: p= may have white space',
    mail: withRecords(order, {
      's1._domainkey.sender.test TXT': [`v=DKIM1;p=${KEY.slice(0, 200)} ${KEY.slice(200)}`],
    }),
    passes: ['dkim', 'dmarc'],
  },
  {
    name: 'a key that was published with its quotes',
    source: 'postalsys/mailauth#30',
    rule: 'RFC 6376, 3.6.1: such a record is no key',
    mail: withRecords(order, { 's1._domainkey.sender.test TXT': [`"v=DKIM1; p=${KEY}"`] }),
    fails: { dkim: /permerror|no key|invalid/ },
    isFaulty: true,
  },
  {
    name: 'a signature in one line of 700 characters',
    source: 'postalserver/postal#339',
    rule: 'RFC 5322, 2.1.1: 78 is advised, 998 is the limit',
    mail: order,
    passes: ['header-line-length', 'dkim'],
  },
  {
    name: 'a greeting with the short name of the machine',
    source: 'nodemailer/nodemailer#1317',
    rule: 'RFC 5321, 4.1.1.1: a full name or an address in brackets',
    mail: { ...order, helo: 'james' },
    fails: { 'helo-name': /james/ },
  },
  {
    name: 'a greeting with 127.0.0.1 in brackets',
    source: 'nodemailer/nodemailer#502',
    rule: 'RFC 5321, 4.1.3: the address of the client',
    mail: { ...order, helo: '[127.0.0.1]' },
    fails: { 'helo-name': /127\.0\.0\.1/ },
  },
  {
    name: 'a greeting with a bare address',
    source: 'zou-yu/worker-mailer#55',
    rule: 'RFC 5321, 4.1.3: addresses stand in brackets',
    mail: { ...order, helo: '127.0.0.1' },
    fails: { 'helo-name': /no full host name/ },
  },

  // Content
  {
    name: 'a tracking link that shows the domain of the sender',
    source: 'rspamd/rspamd#549',
    rule: 'rspamd: PHISHING, as it is meant to',
    mail: withHtml(
      order,
      '<a href="https://www.other.test/lcnt.php?p=1"><strong>www.sender.test</strong></a>',
    ),
    fails: { 'link-text': /www\.sender\.test.* leads to www\.other\.test/ },
  },
  {
    name: 'a link whose text is another URL',
    source: 'rspamd/rspamd#3664',
    rule: 'rspamd: PHISHING must find it',
    mail: withHtml(
      order,
      '<a href="https://www.other.test/as207781">https://www.sender.test/paiement/rev.php?id=A</a>',
    ),
    fails: { 'link-text': /leads to www\.other\.test/ },
  },
  {
    name: 'a link of words through a tracker',
    source: 'rspamd/rspamd#549',
    rule: 'Only a text that is a URL can contradict its link',
    mail: withHtml(
      order,
      '<a href="https://www.other.test/unsubscribe.php?p=1">&raquo; Newsletter abbestellen</a>',
    ),
    passes: ['link-text', 'link-hosts'],
  },
  {
    name: 'an address as link without mailto',
    source: 'rspamd/rspamd#3781',
    rule: 'RFC 3986, 4.2: a relative reference, without a host',
    mail: withHtml(
      order,
      '<a href="test+list@sender.test">This email was sent to test+list@sender.test .</a>',
    ),
    passes: ['link-text', 'link-addresses', 'link-user', 'link-hosts'],
  },
  {
    name: 'the version of a program in the text',
    source: 'rspamd/rspamd#3248',
    rule: 'A version is no link to an address',
    mail: { ...order, html: null, text: 'Logwatch 7.4.3 (04/27/16), processed 1.2.3.4 lines\n' },
    passes: ['link-addresses', 'link-hosts'],
  },
  {
    name: 'a cell of MJML with font-size 0 around its text',
    source: 'mjmlio/mjml#2062',
    rule: 'CSS Fonts, 2.5: the text has a size of its own, so it is visible',
    mail: {
      ...order,
      html: `<table><tr><td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">
        <div style="font-size:0px;text-align:left;display:inline-block;width:100%;">
        <table><tr><td style="font-size:0px;padding:10px 25px;">
        <div style="font-family:Arial;font-size:13px;line-height:1;color:#000000;">${(order.html ?? '').replaceAll(/<\/?(?:html|body)>/g, '').repeat(2)}</div>
        </td></tr></table></div></td></tr></table>`,
    },
    passes: ['hidden-text', 'text-matches', 'body-empty'],
  },
  {
    name: 'text without a size of its own within font-size 0',
    source: 'mjmlio/mjml#2062',
    rule: 'CSS Fonts, 2.5: percentages of nothing are nothing',
    mail: withHtml(
      order,
      `<div style="font-size:0"><p style="font-size:120%">${'cheap pills and watches '.repeat(20)}</p></div>`,
    ),
    fails: { 'hidden-text': /cheap pills/ },
  },
  {
    name: 'a preheader that is padded with invisible characters',
    source: 'rspamd/rspamd#2725',
    rule: 'Mail programs show a preheader; its padding is no text',
    mail: withHtml(
      order,
      `<div style="display:none;max-height:0">Your parcel comes tomorrow${'&#847;&zwnj;&nbsp;&#8199;&shy;\n'.repeat(150)}</div>`,
    ),
    passes: ['hidden-text'],
  },
  {
    name: 'a short answer with the logo of a signature',
    source: 'rspamd/rspamd#1889',
    rule: 'One small image beside a sentence is no mail of images',
    mail: {
      ...order,
      text: 'Thank you, that suits me well.\nAnna\n',
      html: '<p>Thank you, that suits me well.<br>Anna</p><img src="cid:logo" width="80" height="20">',
    },
    fails: { 'image-share': /1 image/ },
  },
  {
    name: 'documents and pictures as attachments',
    source: 'rspamd/rspamd#561',
    rule: 'Only programs are blocked (Gmail Help)',
    mail: {
      ...order,
      attachments: ['a.pdf', 'b.tiff', 'c.xls', 'd.xlsx', 'e.xml', 'f.png'].map((name) => ({
        name,
        type: 'application/octet-stream',
        content: Buffer.from('content'),
      })),
    },
    passes: ['attachment-programs', 'attachment-macros', 'attachment-names'],
  },
]

it.each(CASES.map((one) => [`${one.source}: ${one.name}`, one] as const))(
  '%s',
  async (_name, { mail, passes = [], fails = {}, isFaulty = false, receivers = {} }) => {
    const findings = await analyze(mail)
    const stateOf = (id: string) => findings.find((finding) => finding.id === id)
    for (const id of passes) expect(stateOf(id), id).toMatchObject({ id, state: 'passed' })
    for (const [id, evidence] of Object.entries(fails))
      expect(stateOf(id), id).toMatchObject({
        id,
        state: 'failed',
        evidence: expect.stringMatching(evidence),
        fix: expect.stringMatching(/\w/),
      })
    const others = findings.filter(
      ({ id, state, severity }) => state === 'failed' && severity !== 'note' && !(id in fails),
    )
    if (!isFaulty) expect(others).toEqual([])
    const verdicts = evaluateReceivers(findings)
    for (const [title, requirements] of Object.entries(receivers))
      for (const [requirement, state] of Object.entries(requirements))
        expect(
          verdicts
            .find((verdict) => verdict.title === title)
            ?.requirements.find((one) => one.title === requirement),
          `${title}: ${requirement}`,
        ).toMatchObject({ state })
  },
)

describe('what to do', () => {
  const fixOf = async (id: string, records: Record<string, string[]>) =>
    (await analyze(withRecords(order, records))).find((finding) => finding.id === id)?.fix

  it('about a reverse name names the greeting and who sets it', async () => {
    const fix = await fixOf('reverse-name', {
      [`${IP.split('.').toReversed().join('.')}.in-addr.arpa PTR`]: ['old.sender.test'],
    })
    expect(fix).toMatch(/^Ask the provider of .* to set its reverse name to mail\.sender\.test;/)
    expect(fix).toMatch(/If old\.sender\.test is right/)
  })

  it('about several SPF records is to merge them', async () => {
    const records = { 'sender.test TXT': ['v=spf1 mx -all', 'v=spf1 a -all'] }
    expect(await fixOf('spf', records)).toMatch(/^Merge the SPF records of sender\.test/)
    const single = { 'sender.test TXT': ['v=spf1 nonsense -all'] }
    expect(await fixOf('spf', single)).toMatch(/^Correct the SPF record of sender\.test/)
  })
})

it('has thirty reports or more', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(30)
})
