import { bimiLine } from './bimi-line.ts'
import { blocklistsLine } from './blocklists-line.ts'
import { caaLine } from './caa-line.ts'
import { certificateLines } from './certificates-line.ts'
import { daneLine } from './dane-line.ts'
import { dkimLine } from './dkim-line.ts'
import { dmarcLine } from './dmarc-line.ts'
import { dnssecLine } from './dnssec-line.ts'
import { domainBlocklistsLine } from './domain-blocklists-line.ts'
import type { Line } from './line.ts'
import { mtaStsLine } from './mta-sts-line.ts'
import { mxLine } from './mx-line.ts'
import { registrationLine } from './registration-line.ts'
import { reverseDnsLine } from './reverse-dns-line.ts'
import { sendersLine } from './senders-line.ts'
import { spfLine } from './spf-line.ts'
import { tlsRptLine } from './tls-rpt-line.ts'

/** Every line there is. To add one, write its file, and add its name to `LINES_BY_STAGE`. */
export const LINES: readonly Line[] = [
  mxLine,
  spfLine,
  dmarcLine,
  dkimLine,
  sendersLine,
  reverseDnsLine,
  bimiLine,
  registrationLine,
  dnssecLine,
  ...certificateLines,
  mtaStsLine,
  tlsRptLine,
  daneLine,
  caaLine,
  blocklistsLine,
  domainBlocklistsLine,
]
