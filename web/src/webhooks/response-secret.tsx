import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { webhooks, type Endpoint } from './api.ts'
import classes from './code.module.css'

/** The secret that templates sign with: shown on request, and replaced. */
export function ResponseSecret({ endpoint: { id } }: { endpoint: Endpoint }) {
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState('')

  async function show(): Promise<void> {
    try {
      setSecret(await webhooks.responseSecret(id))
      setProblem('')
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <Section title="Response secret">
      <Stack>
        <Muted>
          {'{{hmac_sha256 …}}'} in the body signs with this secret. It is never the secret that verifies senders.
        </Muted>
        <Notice tone="warn">
          Anyone who knows the address can request a signature for any data they choose. Don’t trust this secret’s
          signatures anywhere else.
        </Notice>
        <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
        {secret !== '' && (
          <div>
            <code className={classes.code}>{secret}</code> <CopyButton text={secret} what="the response secret" />
          </div>
        )}
        <Row>
          {secret === '' && <Button onClick={() => void show()}>Show secret</Button>}
          <ConfirmButton
            label="Replace secret"
            about="responses are signed with"
            title="Replace the response secret?"
            kind="plain"
            onConfirm={async () => setSecret(await webhooks.replaceResponseSecret(id))}
          >
            Responses are signed with a new secret at once. Signatures made with the old one no longer match.
          </ConfirmButton>
        </Row>
      </Stack>
    </Section>
  )
}
