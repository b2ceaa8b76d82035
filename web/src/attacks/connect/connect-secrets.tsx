import { useQueryClient } from '@tanstack/react-query'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { attacks, reportTokensQuery } from '../api.ts'
import { fleet, keysQuery } from '../fleet/api.ts'
import { connect as messages } from '../messages.ts'

export type ConnectSecrets = { label: string; token: string; key: string }

type Props = { created: ConnectSecrets | null; onCreated: (secrets: ConnectSecrets) => void }

/** Creates a report token and a bouncer key, which the recipes below show while the page is open. */
export function ConnectSecretsForm({ created, onCreated }: Props) {
  const access = useAccess()
  const queries = useQueryClient()

  async function create({ label = '' }: Record<string, string>): Promise<void> {
    const name = label.trim()
    const { token } = await attacks.makeToken(name)
    const { key } = await fleet.makeKey(name)
    onCreated({ label: name, token, key })
    await queries.invalidateQueries(reportTokensQuery)
    await queries.invalidateQueries(keysQuery)
  }

  return (
    <>
      <p>
        <Muted>{messages.secrets}</Muted>
      </p>
      <Form key={created?.token} {...access} onSubmit={create} submit={messages.create}>
        <TextField
          name="label"
          label={messages.name}
          placeholder={messages.nameExample}
          maxLength={100}
        />
      </Form>
      <div role="status">
        {created && (
          <Notice tone="good" title={messages.created(created.label)}>
            <p>{messages.createdText}</p>
            <Facts
              facts={[
                [
                  messages.token,
                  <Snippet key="token" what={messages.token} text={created.token} />,
                ],
                [messages.key, <Snippet key="key" what={messages.key} text={created.key} />],
              ]}
            />
          </Notice>
        )}
      </div>
    </>
  )
}
