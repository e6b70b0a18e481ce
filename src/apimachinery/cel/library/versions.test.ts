// Quantities and semantic versions.
import { testRows } from '../rows.suite.ts';

testRows('quantities', [
  ["isQuantity('1.5Gi')", 'true'], ["isQuantity('1.5GiB')", 'false'], ["isQuantity('')", 'false'], ["quantity('1k') == quantity('1000')", 'true'],
  ["quantity('100m').isLessThan(quantity('1'))", 'true'], ["quantity('2').isGreaterThan(quantity('1'))", 'true'],
  ["quantity('1Mi').compareTo(quantity('1Mi'))", '0'], ["quantity('1').compareTo(quantity('2'))", '-1'], ["quantity('3').compareTo(quantity('2'))", '1'],
  ["quantity('-1').sign()", "?found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"], ["sign(quantity('0'))", '0'],
  ["quantity('50k').asInteger()", '50000'],
  ["quantity('1.5').asInteger()", '!cannot convert value to integer'],
  ["quantity('50000000G').isInteger()", 'true'], ["quantity('1.5').isInteger()", 'false'], ["quantity('9999999999999999999999G').isInteger()", 'false'],
  ["quantity('1.5').asApproximateFloat()", '1.5'], ["quantity('50k').add(quantity('20')) == quantity('50020')", 'true'],
  ["quantity('50k').add(20) == quantity('50020')", 'true'],
  ["quantity('50k').sub(quantity('20')) == quantity('49980')", 'true'], ["quantity('50k').sub(-20) == quantity('50020')", 'true'],
  ["quantity('x')", "!quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ["quantity('1') == 1", "?found no matching overload for '_==_' applied to '(kubernetes.Quantity, int)'"],
]);

testRows('semantic versions', [
  ["isSemver('1.2.3')", 'true'], ["isSemver('1.2')", 'false'], ["isSemver('v1.2.3')", 'false'], ["isSemver('01.2.3')", 'false'],
  ["isSemver('1.2.3-a.1+b.2')", 'true'],
  ["isSemver('1.2.3-')", 'false'], ["isSemver('1.2.3+')", 'false'], ["isSemver('1.2.3-01')", 'false'], ["isSemver('1.2.3-0a')", 'true'],
  ["isSemver('1.2.3-a..b')", 'false'],
  ["isSemver('1.2.3+a-b')", 'true'], ["isSemver('1.2.3.4')", 'false'], ["isSemver('v1.2', true)", 'true'], ["isSemver('v01.02', true)", 'true'],
  ["isSemver('1', true)", 'true'],
  ["isSemver('1.2-a', true)", 'false'], ["semver('1.2.3').major()", '1'], ["semver('1.2.3').minor()", '2'], ["semver('1.2.3').patch()", '3'],
  ["semver('v1.2', true) == semver('1.2.0')", 'true'], ["semver('1.2.3').compareTo(semver('1.2.4'))", '-1'],
  ["semver('1.10.0').isGreaterThan(semver('1.9.0'))", 'true'],
  ["semver('1.0.0-a').isLessThan(semver('1.0.0'))", 'true'], ["semver('1.0.0-a.2').isLessThan(semver('1.0.0-a.10'))", 'true'],
  ["semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", 'true'], ["semver('1.0.0-a').isLessThan(semver('1.0.0-a.b'))", 'true'],
  ["semver('1.0.0+x') == semver('1.0.0+y')", 'true'], ["semver('')", '!Version string empty'], ["semver('1.2')", '!No Major.Minor.Patch elements found'],
]);
