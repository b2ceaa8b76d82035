import type { EngineMail } from '../../src/deliverability/mail-tests/engines/engine.ts'

/** Text that every filter takes as spam (GTUBE). */
export const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

/** A mail with this text, as a spam filter receives it. */
export const engineMail = (text: string): EngineMail => ({
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
