// The environment that Kubernetes 1.36 evaluates in: its libraries, optional syntax, literals of one type.
import { type Environment, createEnvironment } from './check/environment.ts';
import { authorizerLibrary } from './library/authorizer.ts';
import { comprehensionsLibrary } from './library/comprehensions.ts';
import { formatsLibrary } from './library/formats.ts';
import { kubernetesListsLibrary, listsLibrary, setsLibrary } from './library/lists.ts';
import { networkLibrary } from './library/network.ts';
import { optionalLibrary } from './library/optional.ts';
import { patternsLibrary } from './library/patterns.ts';
import { standardLibrary } from './library/standard.ts';
import { stringsLibrary } from './library/strings.ts';
import { urlsLibrary } from './library/urls.ts';
import { quantityLibrary, semverLibrary } from './library/versions.ts';

/** All libraries of Kubernetes, without variables. */
export const kubernetesEnvironment: Environment = createEnvironment({
  libraries: [
    standardLibrary, urlsLibrary, patternsLibrary, kubernetesListsLibrary, authorizerLibrary, optionalLibrary, quantityLibrary, stringsLibrary, setsLibrary,
    networkLibrary, formatsLibrary, comprehensionsLibrary, semverLibrary, listsLibrary,
  ],
  optionalSyntax: true,
  strictLiterals: true,
});
