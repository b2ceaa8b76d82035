import { bimiLine } from './bimi.ts'
import { blocklistsLine } from './blocklists.ts'
import { caaLine } from './caa.ts'
import { certificateLines } from './certificates.ts'
import { daneLine } from './dane.ts'
import { dkimLine } from './dkim.ts'
import { dmarcLine } from './dmarc.ts'
import { dnssecLine } from './dnssec.ts'
import { domainBlocklistsLine } from './domain-blocklists.ts'
import type { Line } from './line.ts'
import { mtaStsLine } from './mta-sts.ts'
import { mxLine } from './mx.ts'
import { registrationLine } from './registration.ts'
import { reverseDnsLine } from './reverse-dns.ts'
import { sendersLine } from './senders.ts'
import { spfLine } from './spf.ts'
import { tlsRptLine } from './tls-rpt.ts'

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
