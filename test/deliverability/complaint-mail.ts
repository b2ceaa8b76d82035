type Complaint = {
  from?: string
  type?: string
  /** Further fields of the report. */
  report?: string[]
  /** Header fields of the mail that was complained about; null leaves the mail out. */
  header?: string[] | null
  /** Its body; null where only the header is sent. */
  body?: string | null
  part?: string
  encoding?: string
}

/** A complaint as the feedback loops of providers send it (RFC 5965). */
export function complaintMail({
  from = 'Feedback <feedback@loop.test>',
  type = 'abuse',
  report = [],
  header = ['From: Shop <news@example.com>', 'Subject: Offers'],
  body = 'A private text.',
  part = 'message/rfc822',
  encoding = '7bit',
}: Complaint = {}): string {
  const mail = [...(header ?? []), ...(body === null ? [] : ['', body]), ''].join('\r\n')
  return [
    ...complaintFields(from),
    '',
    complaintBody({ type, report, mail: header && mail, part, encoding }),
  ].join('\r\n')
}

/** The header of a complaint. */
export function complaintFields(from: string): string[] {
  return [
    `From: ${from}`,
    'To: complaints@portreeve.test',
    'Subject: Complaint',
    'Date: Mon, 30 Nov 2026 09:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
  ]
}

export function complaintBody({
  type = 'abuse',
  report = [],
  mail,
  part = 'message/rfc822',
  encoding = '7bit',
}: {
  type?: string
  report?: string[]
  mail: string | null
  part?: string
  encoding?: string
}): string {
  const encoded =
    encoding === 'base64' && mail !== null ? Buffer.from(mail).toString('base64') : mail
  return [
    '--b',
    'Content-Type: text/plain',
    '',
    'This is a complaint.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Test/1.0',
    'Version: 1',
    ...report,
    '',
    ...(encoded === null
      ? []
      : ['--b', `Content-Type: ${part}`, `Content-Transfer-Encoding: ${encoding}`, '', encoded]),
    '--b--',
    '',
  ].join('\r\n')
}
