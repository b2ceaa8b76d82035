import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { webhooks, type Endpoint } from './api.ts'
import classes from './body/code.module.css'
import { responseSecret as messages } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

/** The secret that templates sign with: shown on request, and replaced. */
export function ResponseSecret({ endpoint: { id } }: { endpoint: Endpoint }) {
  const access = useAccess()
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
    <Section title={messages.title}>
      <Stack>
        <Muted>{messages.explanation}</Muted>
        <Notice tone="warn">{messages.warning}</Notice>
        <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
        {secret !== '' && (
          <div>
            <code className={classes.code}>{secret}</code>{' '}
            <CopyButton text={secret} what={messages.copy} />
          </div>
        )}
        <Row>
          {secret === '' && (
            <Button {...access} onClick={() => void show()}>
              {messages.show}
            </Button>
          )}
          <ConfirmButton
            {...access}
            label={messages.replace}
            about={messages.replaceAbout}
            title={messages.replaceTitle}
            kind="plain"
            onConfirm={async () => setSecret(await webhooks.replaceResponseSecret(id))}
          >
            {messages.replaceText}
          </ConfirmButton>
        </Row>
      </Stack>
    </Section>
  )
}
