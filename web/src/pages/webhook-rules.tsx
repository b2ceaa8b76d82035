import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Muted, Section, Stack } from '../ui/layout/page.tsx'
import { rulesOf, rulesQuery, webhooks, type Preview, type Rule } from '../webhooks/api.ts'
import { EndpointPage } from '../webhooks/endpoint-page.tsx'
import { rules as messages } from '../webhooks/messages.ts'
import { WebhookRuleCard } from '../webhooks/rules/webhook-rule-card.tsx'
import { WebhookRuleForm } from '../webhooks/rules/webhook-rule-form.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/hooks/$id/rules' })
  const { data: rules, error } = useQuery(rulesQuery(id))
  const [preview, setPreview] = useState<Preview | null>(null)
  // A new form after each rule: its fields are empty again.
  const [created, setCreated] = useState(0)
  return (
    <EndpointPage id={id} title={messages.title} lead={messages.lead}>
      <LoadingOrError there={rules} error={error} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {rules && (
        <Section title={messages.yours}>
          {rules.length === 0 && (
            <Empty icon="hook" title={messages.empty}>
              <p>{messages.emptyHint}</p>
            </Empty>
          )}
          <Stack rows>
            {rules.map((rule, index) => (
              <WebhookRuleCard
                key={rule.id}
                endpointId={id}
                rule={rule}
                place={index + 1}
                all={rules}
                preview={preview}
              />
            ))}
          </Stack>
          {rules.length > 0 && (
            <NewestRequest endpointId={id} rules={rules} preview={preview} onPreview={setPreview} />
          )}
        </Section>
      )}
      <Section title={messages.add}>
        <Card>
          <WebhookRuleForm
            key={created}
            endpointId={id}
            rule={null}
            onDone={() => setCreated(created + 1)}
          />
        </Card>
      </Section>
    </EndpointPage>
  )
}

type NewestRequestProps = {
  endpointId: string
  rules: Rule[]
  preview: Preview | null
  onPreview: (preview: Preview) => void
}

/** Checks the newest request against the rules. */
function NewestRequest({ endpointId, rules, preview, onPreview }: NewestRequestProps) {
  const [problem, setProblem] = useState('')

  async function check(): Promise<void> {
    setProblem('')
    try {
      const page = await webhooks.requests(endpointId, {}, { cursor: null, order: 'desc' })
      const [newest] = page.requests
      if (newest) onPreview(await rulesOf(endpointId).preview(newest.id))
      else setProblem(messages.noRequest)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  const at = rules.findIndex(({ id }) => id === preview?.answering)
  const answering = rules[at]
  return (
    <Stack>
      <Muted>{messages.checkHint}</Muted>
      <div>
        <Button size="small" onClick={() => void check()}>
          {messages.check}
        </Button>
      </div>
      <div role="status">
        {preview && (
          <Notice tone="info">
            {answering
              ? messages.answering(answering.label || messages.unnamed(at + 1))
              : messages.ownResponse}
          </Notice>
        )}
        {problem && <Notice tone="unknown">{problem}</Notice>}
      </div>
    </Stack>
  )
}
