import { isReporterVerified } from '../../src/dmarc/reports/present-report.ts'
import {
  authenticate,
  signedMail,
  type Delivery,
  type SignedMail,
} from '../protocols/mail/signed-mail.ts'
import { runCases } from './run-cases.ts'

/** What a report shows of the mail that brought it. */
runCases(
  'received-mail.json',
  async ({ mail = {}, ...delivery }: { mail?: SignedMail } & Delivery) => {
    const found = await authenticate(signedMail(mail), delivery)
    const { from, spf, dkim, dmarc } = found
    return {
      from,
      spf: spf.result,
      dkim: dkim.result,
      dmarc: dmarc.result,
      verified: isReporterVerified(found),
    }
  },
)
