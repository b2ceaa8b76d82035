import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { rulesQuery } from '../alert-rules/api.ts'
import { list as messages, preview } from '../alert-rules/messages.ts'
import { PreviewPanel } from '../alert-rules/preview-panel.tsx'
import { RuleCard } from '../alert-rules/rule-card.tsx'
import { RuleForm } from '../alert-rules/rule-form.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Card, Page, Section, Stack } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: rules, error } = useQuery(rulesQuery)
  // A new form after each rule: its fields are empty again.
  const [created, setCreated] = useState(0)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <LoadingOrError there={rules} error={error} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {rules && (
        <Section title={messages.yours}>
          {rules.length === 0 && (
            <Empty icon="bell" title={messages.empty}>
              <p>{messages.emptyHint}</p>
            </Empty>
          )}
          <Stack rows>
            {rules.map((rule, index) => (
              <RuleCard key={rule.id} rule={rule} place={index + 1} all={rules} />
            ))}
          </Stack>
        </Section>
      )}
      <Section title={preview.title}>
        <Card>
          <PreviewPanel />
        </Card>
      </Section>
      <Section title={messages.add}>
        <Card>
          <RuleForm key={created} rule={null} onDone={() => setCreated(created + 1)} />
        </Card>
      </Section>
    </Page>
  )
}
