import type { MailClient } from '../mail-providers/api.ts'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { certificate as messages } from './messages.ts'

const TONES = { valid: 'good', expiring: 'warn', expired: 'bad' } as const

type CertificateStateProps = { certificate: NonNullable<MailClient['certificate']> }

/** When a certificate expires, and the thumbprint that Microsoft Entra shows. */
export function CertificateState({
  certificate: { state, expiresAt, thumbprint },
}: CertificateStateProps) {
  return (
    <span>
      <Status tone={TONES[state]}>{messages.states[state]}</Status>{' '}
      <Muted>
        <DateText at={expiresAt} /> · {messages.thumbprint(thumbprint)}
      </Muted>
    </span>
  )
}
