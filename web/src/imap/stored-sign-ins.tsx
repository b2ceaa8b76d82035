import { useQuery } from '@tanstack/react-query'
import { Button } from '../ui/actions/button.tsx'
import { Row } from '../ui/layout/page.tsx'
import { mailCredentialsQuery, mailProvidersQuery, type MailCredential } from './credentials.ts'
import { stored as messages } from './messages.ts'

type StoredSignInsProps = {
  onUse: (credential: MailCredential, provider: { hosts: string[] }) => void
}

/** Buttons that use a stored sign-in of an administrator, which opens any mailbox. */
export function StoredSignIns({ onUse }: StoredSignInsProps) {
  const { data: credentials = [] } = useQuery(mailCredentialsQuery)
  const { data: providers } = useQuery(mailProvidersQuery)
  const usable = credentials.filter(({ kind }) => kind !== 'person')
  if (usable.length === 0) return null
  return (
    <Row>
      {usable.map((credential) => (
        <Button
          key={credential.id}
          size="small"
          onClick={() => {
            const provider = providers?.forAdministrators.find(
              ({ id }) => id === credential.provider,
            )
            onUse(credential, provider ?? { hosts: [] })
          }}
        >
          {messages.use(credential.account)}
        </Button>
      ))}
    </Row>
  )
}
