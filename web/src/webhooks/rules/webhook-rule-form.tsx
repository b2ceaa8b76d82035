import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CountButtons } from '../../ui/forms/count-buttons.tsx'
import {
  AreaField,
  CheckField,
  FieldRow,
  Form,
  SelectField,
  TextField,
} from '../../ui/forms/form.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { rulesOf, rulesQuery, type Rule } from '../api.ts'
import { headersText } from '../endpoint-settings.ts'
import {
  RULE_ENDS,
  RULE_FAULTS,
  RULE_FIELDS,
  RULE_OPERATORS,
  ruleForm as messages,
} from '../messages.ts'
import {
  delayText,
  fields,
  isNamed,
  parseRule,
  rowsOf,
  validateRule,
  type ConditionRow,
} from './rule-values.ts'

const MAX_ROWS = 20
const MAX_ANSWERS = 10

type RuleFormProps = {
  endpointId: string
  /** The rule to edit; null for a new one. */
  rule: Rule | null
  onDone: () => void
}

export function WebhookRuleForm({ endpointId, rule, onDone }: RuleFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const stored = rowsOf(rule?.when ?? {})
  const [isJson, setJson] = useState(stored === null)
  const [conditions, setConditions] = useState(stored?.length ?? 0)
  const [answers, setAnswers] = useState(rule?.answers.length ?? 1)
  const sizes = { conditions, answers, isJson }

  async function save(values: Record<string, string>): Promise<void> {
    const settings = parseRule(values, sizes)
    const rules = rulesOf(endpointId)
    await (rule ? rules.change(rule.id, settings) : rules.create(settings))
    await queries.invalidateQueries(rulesQuery(endpointId))
    onDone()
  }

  return (
    <Form
      guarded
      {...access}
      onSubmit={save}
      submit={rule ? messages.save : messages.create}
      check={(values) => validateRule(values, sizes)}
    >
      <TextField
        name="label"
        label={messages.label}
        defaultValue={rule?.label ?? ''}
        placeholder={messages.labelExample}
        maxLength={100}
      />
      <section>
        <h3>{messages.conditions}</h3>
        <Stack>
          <Muted>{messages.conditionsHint}</Muted>
          {isJson ? (
            <AreaField
              name="when"
              label={messages.json}
              rows={4}
              defaultValue={JSON.stringify(rule?.when ?? {}, null, 2)}
            />
          ) : (
            <ConditionRows rows={stored ?? []} count={conditions} onCount={setConditions} />
          )}
          <CheckField
            name="isJson"
            label={messages.asJson}
            hint={messages.asJsonHint}
            defaultChecked={isJson}
            onChoose={setJson}
          />
        </Stack>
      </section>
      <section>
        <h3>{messages.answers}</h3>
        <Stack>
          <Muted>{messages.answersHint}</Muted>
          {Array.from({ length: answers }, (_, row) => (
            <AnswerFields
              key={row}
              row={row}
              answer={rule?.answers[row]}
              isSequence={answers > 1}
            />
          ))}
          <CountButtons
            count={answers}
            min={1}
            max={MAX_ANSWERS}
            add={messages.addAnswer}
            remove={messages.removeAnswer}
            onCount={setAnswers}
          />
          {answers > 1 && <SequenceFields rule={rule} />}
        </Stack>
      </section>
    </Form>
  )
}

type ConditionRowsProps = {
  rows: ConditionRow[]
  count: number
  onCount: (count: number) => void
}

function ConditionRows({ rows, count, onCount }: ConditionRowsProps) {
  return (
    <>
      {Array.from({ length: count }, (_, row) => (
        <ConditionFields key={row} row={row} condition={rows[row]} />
      ))}
      <CountButtons
        count={count}
        min={0}
        max={MAX_ROWS}
        add={messages.addCondition}
        remove={messages.removeCondition}
        onCount={onCount}
      />
    </>
  )
}

function ConditionFields({ row, condition }: { row: number; condition: ConditionRow | undefined }) {
  const [field, setField] = useState(condition?.field ?? 'method')
  const [operator, setOperator] = useState(condition?.operator ?? '$eq')
  const hasValue = operator !== '$exists' && operator !== '$missing'
  return (
    <section>
      <VisuallyHidden>
        <h4>{messages.condition(row + 1)}</h4>
      </VisuallyHidden>
      <FieldRow>
        <SelectField
          name={fields.condition(row, 'field')}
          label={messages.field}
          choices={RULE_FIELDS}
          defaultValue={field}
          onChoose={setField}
        />
        {isNamed(field) && (
          <TextField
            name={fields.condition(row, 'name')}
            label={messages.name}
            hint={messages.nameHint}
            defaultValue={condition?.name ?? ''}
            maxLength={190}
            spellCheck={false}
          />
        )}
        <SelectField
          name={fields.condition(row, 'operator')}
          label={messages.operator}
          choices={RULE_OPERATORS}
          defaultValue={operator}
          onChoose={setOperator}
        />
        {hasValue && (
          <TextField
            name={fields.condition(row, 'value')}
            label={messages.value}
            defaultValue={condition?.value ?? ''}
            maxLength={1_000}
            spellCheck={false}
          />
        )}
      </FieldRow>
    </section>
  )
}

type AnswerFieldsProps = {
  row: number
  answer: Rule['answers'][number] | undefined
  isSequence: boolean
}

function AnswerFields({ row, answer, isSequence }: AnswerFieldsProps) {
  const name = (part: string) => fields.answer(row, part)
  return (
    <section>
      {isSequence && <h4>{messages.answer(row + 1)}</h4>}
      <Stack>
        <FieldRow>
          <TextField
            name={name('status')}
            label={messages.status}
            inputMode="numeric"
            defaultValue={String(answer?.status ?? 200)}
          />
          <TextField
            name={name('delayMs')}
            label={messages.delay}
            hint={messages.delayHint}
            defaultValue={delayText(answer?.delayMs ?? 0)}
          />
          {isSequence && (
            <TextField
              name={name('times')}
              label={messages.times}
              inputMode="numeric"
              defaultValue={String(answer?.times ?? 1)}
            />
          )}
          <SelectField
            name={name('fault')}
            label={messages.fault}
            hint={messages.faultHint}
            choices={RULE_FAULTS}
            defaultValue={answer?.fault ?? ''}
          />
        </FieldRow>
        <TextField
          name={name('type')}
          label={messages.type}
          defaultValue={answer?.type ?? 'text/plain; charset=utf-8'}
          spellCheck={false}
        />
        <AreaField
          name={name('body')}
          label={messages.body}
          rows={3}
          defaultValue={answer?.body ?? ''}
        />
        <AreaField
          name={name('headers')}
          label={messages.headers}
          hint={messages.headersHint}
          rows={2}
          defaultValue={headersText(answer?.headers ?? [])}
        />
        <CheckField
          name={name('template')}
          label={messages.template}
          defaultChecked={answer?.template ?? false}
        />
      </Stack>
    </section>
  )
}

function SequenceFields({ rule }: { rule: Rule | null }) {
  return (
    <FieldRow>
      <SelectField
        name="after"
        label={messages.after}
        choices={RULE_ENDS}
        defaultValue={rule?.after ?? 'last'}
      />
      <TextField
        name="key"
        label={messages.key}
        hint={messages.keyHint}
        defaultValue={rule?.key ?? ''}
        maxLength={200}
        spellCheck={false}
      />
      <TextField
        name="keyMinutes"
        label={messages.keyMinutes}
        inputMode="numeric"
        defaultValue={String(rule?.keyMinutes ?? 60)}
      />
    </FieldRow>
  )
}
