import type { DeliveredMail, MailReceiver } from '../../net/mail-receiver.ts'
import { smtpReply } from '../../net/smtp-server.ts'
import { parseMessage, unfold } from '../../protocols/mail/message.ts'
import type { Db } from '../../store/database.ts'
import { newUuidBytes } from '../../store/uuid.ts'
import type { GroupCommit } from '../capture/capture-commits.ts'
import type { EndpointCache } from '../endpoints/cache.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import { findTokenByEmail } from '../endpoints/endpoints.sql.ts'
import { deliveriesOf } from '../forwarding/prepare-deliveries.ts'
import type { Header } from '../headers.ts'
import { MAX_READ_BODY_BYTES, MAX_STORED_BODY_BYTES } from '../limits.ts'
import type { CapturedRequest, StoredCapture } from '../requests/captured-request.ts'
import { repeatKeyOf } from '../requests/repeat-key.ts'
import { EMAIL_METHOD, EMAIL_TYPE, emailTokenOf } from './endpoint-email.ts'

type EmailDeps = {
  db: Db
  endpoints: EndpointCache
  commits: GroupCommit<StoredCapture>
  /** The domain of report addresses. */
  domain: string
}

/** The field by which a mail that its server sends again is recognized. */
const MESSAGE_ID = 'headers.message-id'

/**
 * Captures mails to the addresses of endpoints as requests, each acknowledged once it is stored. An
 * address exists only where an endpoint has one: every other one is refused at RCPT.
 */
export function createEmailReceiver({ db, endpoints, commits, domain }: EmailDeps): MailReceiver {
  async function store(key: string, mail: DeliveredMail): Promise<void> {
    if (mail.bytes.length > MAX_READ_BODY_BYTES)
      throw smtpReply(552, '5.3.4 A mail to an endpoint may have up to 10 MB')
    const endpoint = await endpoints.find(key)
    if (!endpoint) throw smtpReply(550, UNKNOWN)
    const outcome = await commits.add(captureOf(endpoint, mail))
    if (outcome === 'gone') throw smtpReply(550, UNKNOWN)
    if (outcome === 'full') throw smtpReply(452, '4.3.1 Too many mails at the moment; try again')
    if (outcome === 'failed') throw smtpReply(451, '4.3.0 The mail was not stored; try again')
  }

  return {
    async findRecipient(address) {
      const token = emailTokenOf(address, domain)
      const key = token === null ? undefined : await findTokenByEmail(db, token)
      return key === undefined ? null : { receive: (mail) => store(key, mail) }
    },
  }
}

const UNKNOWN = '5.1.1 This address no longer exists'

function captureOf(endpoint: Endpoint, { bytes, peer }: DeliveredMail): StoredCapture {
  const body = bytes.subarray(0, MAX_STORED_BODY_BYTES)
  const row: CapturedRequest = {
    id: newUuidBytes(),
    endpointId: endpoint.id,
    method: EMAIL_METHOD,
    path: '',
    query: '',
    headers: headersOf(bytes),
    trailers: null,
    ip: peer,
    body,
    bodySize: bytes.length,
    contentType: EMAIL_TYPE,
    receivedAt: new Date(),
    durationMs: 0,
    httpVersion: '',
    preflight: false,
    aborted: false,
    rejected: null,
    responseStatus: 250,
    surplus: null,
    answeredBy: null,
  }
  const { destinations, forwardingMark } = endpoint
  return {
    ...row,
    repeatKey: repeatKeyOf(row, endpoint.repeatKey ?? MESSAGE_ID),
    ...(destinations && {
      // No webhook signature is in a mail.
      deliveries: deliveriesOf(destinations, row, forwardingMark, () => false),
    }),
  }
}

/** Headers of a mail that are kept for conditions and lists; the mail has all of them. */
const MAX_HEADERS = 200
const MAX_VALUE_CHARS = 8_000

/** The fields of the header in their order and case, unfolded. */
function headersOf(bytes: Buffer): Header[] {
  const { fields } = parseMessage(bytes.subarray(0, MAX_STORED_BODY_BYTES))
  return fields
    .filter(({ name }) => /^[!-9;-~]+$/.test(name))
    .slice(0, MAX_HEADERS)
    .map(({ raw }): Header => {
      const colon = raw.indexOf(':')
      const value = unfold(raw.slice(colon + 1)).replaceAll('\0', '')
      return [raw.slice(0, colon).trimEnd(), value.trim().slice(0, MAX_VALUE_CHARS)]
    })
}
